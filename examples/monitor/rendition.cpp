#include "examples/monitor/rendition.h"

#include <algorithm>
#include <cmath>
#include <thread>

namespace monitor {

namespace {

constexpr double kLongestPause = 60, kWellFor = 30;   // s: the next pause; scored so long, it is short again
constexpr guint kPatience = 10, kPatienceForEnd = 5;  // s
constexpr int kMostAbandoned = 8;

int abandoned_now = 0, jobs = 0;

struct Job {
  std::function<void()> work, then;
};

// `work` in a thread of its own, then `then` on the main loop.
void in_background(std::function<void()> work, std::function<void()> then) {
  ++jobs;
  std::thread([job = new Job{std::move(work), std::move(then)}] {
    job->work();
    job->work = nullptr;
    g_main_context_invoke_full(
        nullptr, G_PRIORITY_DEFAULT,
        [](gpointer done) -> gboolean {
          static_cast<Job *>(done)->then();
          return G_SOURCE_REMOVE;
        },
        job,
        [](gpointer done) {
          delete static_cast<Job *>(done);
          --jobs;
        });
  }).detach();
}

bool is_file(const std::string &uri) { return uri.compare(0, 5, "file:") == 0; }

// A run must not overwrite what an earlier one has found out: scores.csv, scores-2.csv. FIFOs and devices stay.
std::string free_name(const std::string &name) {
  const size_t slash = name.rfind('/'), dot = name.rfind('.');
  const bool extension = dot != std::string::npos && (slash == std::string::npos || dot > slash + 1);
  const std::string stem = name.substr(0, extension ? dot : name.size()), rest = name.substr(stem.size());
  std::string found = name;
  for (int n = 2; g_file_test(found.c_str(), G_FILE_TEST_IS_REGULAR); ++n)
    found = stem + "-" + std::to_string(n) + rest;
  return found;
}

std::string seconds_text(double seconds) {
  char text[32];
  g_snprintf(text, sizeof text, "%g s", seconds);
  return text;
}

}  // namespace

struct Rendition::Run {
  std::shared_ptr<Pipeline> pipeline;
  guint watch = 0;
  bool going_down = false, ended = false;  // by the end of the streams
};

Rendition::Rendition(const ChannelSettings &channel, const RenditionSettings &rendition, bool once,
                     Record &record, std::function<void()> on_end)
    : channel_(channel),
      rendition_(rendition),
      once_(once),
      record_(record),
      on_end_(std::move(on_end)),
      messages_(record) {}

Rendition::~Rendition() {
  if (retry_) g_source_remove(retry_);
  if (patience_) g_source_remove(patience_);
  if (run_ && run_->watch) g_source_remove(run_->watch);
}

std::string Rendition::check() const {
  std::string error;
  const auto pipeline = Pipeline::create(channel_, rendition_, "", error);
  return pipeline ? pipeline->try_element() : error;
}

bool Rendition::all_down() {
  while (g_main_context_iteration(nullptr, FALSE)) {
  }
  return jobs == 0;
}

void Rendition::set_state(State state) {
  state_ = state;
  record_.now().state = state;
  record_.changed();
}

// ---- a run ----------------------------------------------------------------------------------------

void Rendition::start() { begin(); }

void Rendition::begin() {
  std::string error, results;
  if (!channel_.results.empty() && !without_results_)
    results = free_name(results_name(channel_, rendition_.name));
  without_results_ = false;
  scoring_since_ = 0;
  duration_ = -1;
  set_state(State::connecting);
  run_ = std::make_shared<Run>();
  run_->pipeline = Pipeline::create(channel_, rendition_, results, error);
  if (!run_->pipeline) {  // an element that is gone since the start
    run_.reset();
    record_.event(EventKind::lost, redact(error), g_get_real_time());
    return pause_and_retry(State::lost);
  }
  run_->watch = gst_bus_add_watch(run_->pipeline->bus(), on_bus, this);
  const auto ok = std::make_shared<bool>();
  in_background([ok, pipeline = run_->pipeline] { *ok = pipeline->play(); },
                [this, ok, run = run_] {
                  if (*ok || run != run_) return;
                  read_bus();
                  lost("The pipeline does not start");
                });
}

void Rendition::lost(const std::string &why) {
  if (!run_ || run_->going_down) return;
  record_.event(EventKind::lost, why, g_get_real_time());
  failed_ = once_ && is_file(channel_.reference) && (rendition_.uri.empty() || is_file(rendition_.uri));
  bring_down();
}

void Rendition::finish() {
  if (run_->going_down) return;
  run_->ended = true;
  bring_down();
}

void Rendition::bring_down() {
  run_->going_down = true;
  if (!stopping_ && !run_->ended) set_state(State::lost);
  if (patience_) g_source_remove(patience_);
  patience_ = g_timeout_add_seconds(kPatience, on_patience, this);
  in_background([pipeline = run_->pipeline] { pipeline->stop(); },
                [this, run = run_] {
                  if (run == run_)
                    is_down(run);
                  else
                    --abandoned_now;
                });
}

// What was on its way has been scored; the messages of it are on the bus.
void Rendition::is_down(const std::shared_ptr<Run> &run) {
  if (patience_) g_source_remove(patience_);
  patience_ = 0;
  read_bus();
  GstStructure *stats = nullptr;
  g_object_get(run->pipeline->element(), "stats", &stats, nullptr);
  const StructurePtr last(stats);
  if (last) messages_.stats(last.get());
  const bool scored = messages_.scored() > 0;
  messages_.run_ends();
  if (run->ended && !stopping_) record_.event(EventKind::ended, "End of the streams", g_get_real_time());
  g_source_remove(run->watch);
  run_.reset();

  go_on(run->ended, scored);
}

void Rendition::go_on(bool ended, bool scored) {
  const bool well =
      scoring_since_ && g_get_monotonic_time() - scoring_since_ >= int64_t(kWellFor * G_USEC_PER_SEC);
  if (well || (ended && scored)) pause_ = 0;
  if (!stopping_ && !failed_ && !(once_ && ended))
    return pause_and_retry(ended ? State::repeating : State::lost);
  if (stopping_) record_.event(EventKind::ended, "Stopped", g_get_real_time());
  set_state(State::ended);
  on_end_();
}

gboolean Rendition::on_patience(gpointer data) {
  auto *self = static_cast<Rendition *>(data);
  self->patience_ = 0;
  if (!self->run_->going_down) {  // the end of the streams did not come through
    self->bring_down();
    return G_SOURCE_REMOVE;
  }
  ++abandoned_now;
  self->record_.event(EventKind::warning, "A pipeline does not stop, and is left alone", g_get_real_time());
  const bool ended = self->run_->ended, scored = self->messages_.scored() > 0;
  self->messages_.run_ends();
  g_source_remove(self->run_->watch);
  self->run_.reset();
  self->go_on(ended, scored);
  return G_SOURCE_REMOVE;
}

void Rendition::pause_and_retry(State meanwhile) {
  pause_ = std::clamp(2 * pause_, channel_.retry_seconds, kLongestPause);
  set_state(meanwhile);
  record_.event(EventKind::retry, "Next attempt in " + seconds_text(pause_), g_get_real_time());
  retry_ = g_timeout_add(guint(pause_ * 1000), on_retry, this);
}

gboolean Rendition::on_retry(gpointer data) {
  auto *self = static_cast<Rendition *>(data);
  if (abandoned_now >= kMostAbandoned) return G_SOURCE_CONTINUE;  // wait for one of them to come down
  self->retry_ = 0;
  ++self->record_.now().counters.restarts;
  self->begin();
  return G_SOURCE_REMOVE;
}

void Rendition::stop() {
  if (stopping_ || state_ == State::ended) return;
  stopping_ = true;
  if (!run_) {
    if (retry_) g_source_remove(retry_);
    retry_ = 0;
    return go_on(false, false);
  }
  if (run_->going_down) return;
  run_->ended = true;
  if (state_ != State::running) return bring_down();
  // What an encoder still holds comes out with the end of the streams.
  patience_ = g_timeout_add_seconds(kPatienceForEnd, on_patience, this);
  in_background([pipeline = run_->pipeline] { pipeline->end(); }, [] {});
}

// ---- once a second --------------------------------------------------------------------------------

void Rendition::tick() {
  if (run_ && !run_->going_down) {
    Pipeline &pipeline = *run_->pipeline;
    GstStructure *stats = nullptr;
    g_object_get(pipeline.element(), "stats", &stats, nullptr);
    const StructurePtr now(stats);
    if (now) messages_.stats(now.get());
    if (const std::string caps = pipeline.caps(); !caps.empty()) record_.now().caps = caps;
    if (state_ == State::running) {
      g_signal_emit_by_name(pipeline.element(), "post-pooled");
      if (duration_ < 0 && !pipeline.live()) duration_ = pipeline.duration();
    }
    look_for_stall();
  }
  record_.tick(g_get_real_time());
}

void Rendition::look_for_stall() {
  if (stopping_) return;
  const Pipeline &pipeline = *run_->pipeline;
  const auto ref = pipeline.flow(Pipeline::reference), dist = pipeline.flow(Pipeline::distorted);
  const auto limit = int64_t(channel_.stall_seconds * G_USEC_PER_SEC);
  const std::string time = seconds_text(channel_.stall_seconds);
  const bool ref_stalls = !ref.ended && ref.silent_us > limit,
             dist_stalls = !dist.ended && dist.silent_us > limit;
  // A slow encoder holds the reference up, and looks ahead before its first frame: something moves all the same.
  if (pipeline.encoder_in_place() && !pipeline.live()) {
    if (dist_stalls && (ref_stalls || ref.ended))
      lost((ref.ended ? "The encoder has given no frame for "
                      : "Neither the reference nor the encoder has given a frame for ") +
           time);
    return;
  }
  // Whoever is silent for longer makes the other one wait.
  if (dist_stalls && (!ref_stalls || dist.silent_us >= ref.silent_us))
    lost((pipeline.encoder_in_place() ? "The encoder" : "The distorted stream") +
         std::string(" has given no frame for ") + time);
  else if (ref_stalls)
    lost("The reference has given no frame for " + time);
  else if (dist.ended && !ref.ended && dist.silent_us > limit && !rendition_.uri.empty() &&
           !is_file(rendition_.uri))
    lost("The distorted stream has ended, the reference goes on");
  else if (ref.ended && !dist.ended && ref.silent_us > limit && !is_file(channel_.reference))
    lost("The reference has ended, the distorted stream goes on");
}

double Rendition::progress() const {
  if (state_ == State::ended) return 1;
  const uint64_t time = messages_.stream_time();
  if (duration_ <= 0 || !GST_CLOCK_TIME_IS_VALID(time)) return -1;
  return std::clamp(double(time) / double(duration_), 0., 1.);
}

// ---- messages -------------------------------------------------------------------------------------

gboolean Rendition::on_bus(GstBus *, GstMessage *message, gpointer self) {
  static_cast<Rendition *>(self)->read(message);
  return G_SOURCE_CONTINUE;
}

void Rendition::read_bus() {
  while (const MessagePtr message{gst_bus_pop(run_->pipeline->bus())}) read(message.get());
}

void Rendition::read(GstMessage *message) {
  if (!run_) return;
  const Pipeline &pipeline = *run_->pipeline;
  const GstStructure *structure = gst_message_get_structure(message);
  const bool of_element = GST_MESSAGE_SRC(message) == GST_OBJECT(pipeline.element());
  const auto about_file = [&](void (*parse)(GstMessage *, GError **, gchar **)) {
    GError *what = nullptr;
    parse(message, &what, nullptr);
    const std::unique_ptr<GError, Free<g_error_free>> owned(what);
    return of_element && (g_error_matches(what, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_OPEN_WRITE) ||
                          g_error_matches(what, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_WRITE));
  };
  switch (GST_MESSAGE_TYPE(message)) {
    case GST_MESSAGE_ERROR:
      if (run_->going_down) break;
      if (about_file(gst_message_parse_error)) {  // then without it
        messages_.warning(pipeline.text_of(message), true);
        without_results_ = true;
        bring_down();
      } else {
        lost(pipeline.text_of(message));
      }
      break;
    case GST_MESSAGE_WARNING:
      messages_.warning(pipeline.text_of(message), about_file(gst_message_parse_warning));
      break;
    case GST_MESSAGE_LATENCY:
      in_background(
          [pipeline = run_->pipeline] {
            gst_bin_recalculate_latency(GST_BIN(GST_ELEMENT_PARENT(pipeline->element())));
          },
          [] {});
      break;
    case GST_MESSAGE_ELEMENT:
      if (!of_element || !structure) break;
      messages_.element(structure, pipeline.thumbnails(Pipeline::reference),
                        pipeline.thumbnails(Pipeline::distorted));
      if (state_ == State::connecting && !run_->going_down && messages_.scored() > 0) {
        scoring_since_ = g_get_monotonic_time();
        record_.now().caps = pipeline.caps();
        set_state(State::running);
        record_.event(EventKind::started, "First score", g_get_real_time());
      }
      break;
    case GST_MESSAGE_APPLICATION:
      if (gst_structure_has_name(structure, "end")) {
        finish();
      } else if (gst_structure_has_name(structure, "jump")) {
        double seconds = 0;
        gst_structure_get_double(structure, "seconds", &seconds);
        const std::string side = gst_structure_get_string(structure, "side");
        record_.event(EventKind::reset,
                      "The " + side + " stream's time stamps jump by " + seconds_text(std::round(seconds)) +
                          ": taken out",
                      g_get_real_time());
      } else if (gst_structure_has_name(structure, "change")) {
        record_.event(EventKind::changed,
                      std::string(gst_structure_get_string(structure, "property")) + " = " +
                          gst_structure_get_string(structure, "value"),
                      g_get_real_time());
      }
      break;
    default:
      break;
  }
}

}  // namespace monitor
