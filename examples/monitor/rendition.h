// One rendition under supervision: starts its pipeline, sees it fail, and builds it anew after a pause that grows from
// 1 s to 60 s. All on the main loop's thread; what may block is done by threads of their own, and a pipeline that does
// not come down in time is left to its thread.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "examples/monitor/messages.h"
#include "examples/monitor/pipeline.h"
#include "examples/monitor/record.h"
#include "examples/monitor/settings.h"

namespace monitor {

class Rendition {
 public:
  // All must outlive it. `on_end`: it will not start again.
  Rendition(const ChannelSettings &channel, const RenditionSettings &rendition, bool once, Record &record,
            std::function<void()> on_end);
  ~Rendition();

  // Whether the settings can be carried out here; the text of the error or nothing. May block for a moment.
  std::string check() const;

  void start();
  void tick();  // once a second
  void stop();  // what is on its way is scored; on_end() within some 10 s
  bool ended() const { return state_ == State::ended; }
  bool failed() const { return failed_; }  // it ended by an error (with `once`)

  // How much of the reference has been scored, 0 to 1; negative where its length is not known.
  double progress() const;

  // Whether no thread works on a pipeline any more; otherwise the process must end without clearing up.
  static bool all_down();

 private:
  struct Run;

  void begin();
  void bring_down();
  void is_down(const std::shared_ptr<Run> &run);
  void go_on(bool ended, bool scored);
  void pause_and_retry(State meanwhile);
  void lost(const std::string &why);
  void finish();
  void read(GstMessage *message);
  void read_bus();
  void set_state(State state);
  void look_for_stall();
  static gboolean on_bus(GstBus *bus, GstMessage *message, gpointer self);
  static gboolean on_retry(gpointer self);
  static gboolean on_patience(gpointer self);

  const ChannelSettings &channel_;
  const RenditionSettings &rendition_;
  const bool once_;
  Record &record_;
  const std::function<void()> on_end_;
  Messages messages_;
  State state_ = State::connecting;
  std::shared_ptr<Run> run_;
  guint retry_ = 0, patience_ = 0;
  double pause_ = 0;  // s, the last one
  int64_t scoring_since_ = 0, duration_ = -1;
  bool stopping_ = false, failed_ = false;
  bool without_results_ = false;  // of the next run: the file could not be opened
};

}  // namespace monitor
