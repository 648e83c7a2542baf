// vmafhip-monitor: scores live streams against their reference, shows them on a page, as metrics and in a report, and goes
// on through what happens to live streams. `vmafhip-monitor --help` says how it is asked to.
#include <glib-unix.h>
#include <gst/gst.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "examples/monitor/error_text.h"
#include "examples/monitor/main_loop.h"
#include "examples/monitor/progress.h"
#include "examples/monitor/record.h"
#include "examples/monitor/redact.h"
#include "examples/monitor/rendition.h"
#include "examples/monitor/report.h"
#include "examples/monitor/server.h"
#include "examples/monitor/settings.h"
#include "examples/monitor/taking.h"

namespace monitor {

namespace {

class Monitor {
 public:
  explicit Monitor(const Settings &settings)
      : settings_(settings),
        loop_(g_main_loop_new(nullptr, FALSE)),
        progress_(settings.channels.size() > 1, stderr, isatty(STDERR_FILENO), g_get_monotonic_time()) {
    for (const ChannelSettings &channel : settings_.channels)
      for (const RenditionSettings &rendition : channel.renditions) {
        records_.push_back(&kept_.emplace_back(
            channel.name, rendition.name, redact_uri(channel.reference),
            rendition.encode.empty() ? redact_uri(rendition.uri) : redact(rendition.encode),
            channel.alert_above));
        renditions_.push_back(std::make_unique<Rendition>(channel, rendition, settings_.once,
                                                          *records_.back(), [this] { end_if_all_have(); }));
      }
  }
  ~Monitor() { g_main_loop_unref(loop_); }

  // What can be found out before anything starts.
  std::string check() const {
    for (size_t i = 0; i < renditions_.size(); ++i)
      if (const std::string error = renditions_[i]->check(); !error.empty())
        return records_[i]->channel + "/" + records_[i]->name + ": " + error;
    return {};
  }

  std::string listen() {
    if (settings_.listen.empty()) return {};
    std::string error;
    server_ = Server::start(settings_.listen, records_, settings_, error);
    if (!server_) return error;
    std::printf("Dashboard: %s\n", server_->address().c_str());
    std::fflush(stdout);
    return {};
  }

  int run() {
    const guint sources[] = {g_unix_signal_add(SIGINT, on_stop, this),
                             g_unix_signal_add(SIGTERM, on_stop, this), g_timeout_add(1000, on_tick, this)};
    // These two stay to the end, so that they do not end it in the middle of the report: shell and kernel both tell that the
    // terminal is gone. Under nohup that is ignored, and stays so.
    g_unix_signal_add(SIGUSR1, on_report, this);
    struct sigaction hangup;
    if (sigaction(SIGHUP, nullptr, &hangup) == 0 && hangup.sa_handler != SIG_IGN)
      g_unix_signal_add(SIGHUP, on_stop, this);
    for (const auto &rendition : renditions_) rendition->start();
    g_main_loop_run(loop_);
    for (const guint source : sources) g_source_remove(source);
    sum_up();
    // What is left of the last second: an open page shows how it ended. It goes out while the main loop is run down.
    for (Record *record : records_) record->tick(g_get_real_time());
    bool well = written_;
    for (const auto &rendition : renditions_) well = well && !rendition->failed();
    return well ? 0 : 1;
  }

 private:
  // Whole or not at all: a reader never sees half of it.
  bool write_report() {
    if (settings_.report.empty()) return true;
    const std::string html = report_html(records_, settings_);
    GError *broken = nullptr;
    if (g_file_set_contents(settings_.report.c_str(), html.data(), gssize(html.size()), &broken)) {
      progress_.line("Report: " + settings_.report);
      return true;
    }
    const std::string error = "The report could not be written: " + take_text(broken);
    for (Record *record : records_) record->event(EventKind::file_error, error, g_get_real_time());
    progress_.line(error);
    return false;
  }

  // Once: when all has ended, or was made to.
  void sum_up() {
    if (summed_up_) return;
    summed_up_ = true;
    progress_.summary(records_, stdout);
    written_ = write_report();
  }

  // Files have ended; whoever looks at the page wants to see what came out of it.
  void end_if_all_have() {
    for (const auto &rendition : renditions_)
      if (!rendition->ended()) return;
    if (settings_.once || stopping_ || !server_) return g_main_loop_quit(loop_);
    sum_up();
    progress_.line("All has ended; the dashboard stays until Ctrl-C (with --once it does not)");
  }

  void show_progress() {
    double done = 1;  // of the one that is least far
    bool ends = true;
    for (const auto &rendition : renditions_) {
      done = std::min(done, rendition->progress());
      ends = ends && rendition->ends();
    }
    progress_.show(records_, done, ends, g_get_monotonic_time());
  }

  static gboolean on_tick(gpointer data) {
    auto *self = static_cast<Monitor *>(data);
    for (const auto &rendition : self->renditions_) rendition->tick();
    if (!self->summed_up_) self->show_progress();
    return G_SOURCE_CONTINUE;
  }

  // The second time it need not be clean.
  static gboolean on_stop(gpointer data) {
    auto *self = static_cast<Monitor *>(data);
    if (self->stopping_ || self->summed_up_) g_main_loop_quit(self->loop_);
    self->stopping_ = true;
    for (const auto &rendition : self->renditions_) rendition->stop();
    return G_SOURCE_CONTINUE;
  }

  static gboolean on_report(gpointer data) {
    static_cast<Monitor *>(data)->write_report();
    return G_SOURCE_CONTINUE;
  }

  const Settings &settings_;
  GMainLoop *loop_;
  Progress progress_;
  std::deque<Record> kept_;
  std::vector<Record *> records_;  // all of them
  std::vector<std::unique_ptr<Rendition>> renditions_;
  std::unique_ptr<Server> server_;
  bool stopping_ = false;
  bool summed_up_ = false, written_ = false;  // table and report
};

int run(int argc, char **argv) {
  Settings settings;
  std::string error = read_settings(argc, argv, settings);
  std::unique_ptr<Monitor> monitor;
  if (error.empty()) {
    monitor = std::make_unique<Monitor>(settings);
    error = monitor->check();
  }
  if (error.empty()) error = monitor->listen();
  if (!error.empty()) {
    std::fprintf(stderr, "vmafhip-monitor: %s\n", shortened(redact(error)).c_str());
    return 2;
  }
  const int status = monitor->run();
  if (background_is_idle()) return status;
  // Some thread still waits for a network: nothing that it uses may be taken away.
  std::fflush(nullptr);
  _exit(status);
}

}  // namespace

}  // namespace monitor

int main(int argc, char **argv) {
  std::signal(SIGUSR1, SIG_IGN);  // until there is something to report
  std::signal(SIGXFSZ, SIG_IGN);  // a file beyond the limit of sizes is an error like any other
  std::setlocale(LC_CTYPE, "");   // numbers keep their points
#ifdef __GLIBC__
  // Else each of the many threads that come and go with pipelines leaves an arena of the allocator's behind.
  mallopt(M_ARENA_MAX, 2);
#endif
  const int status = monitor::run(argc, argv);
  if (gst_is_initialized()) gst_deinit();
  return status;
}
