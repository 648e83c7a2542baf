// The life of a run:
//
//   start()       builds the pipeline, which a thread starts                                  State::connecting
//   read()        has the first score                                                         State::running
//   bring_down()  says why it is over, once: the streams have ended, something is lost, the
//                 result file cannot be opened, stop(). A thread takes the pipeline down,
//                 which scores what is on its way
//   is_down()     has the last messages, or has waited long enough and leaves it to its thread
//   go_on()       begin_again() after a pause,                                  State::lost, State::repeating
//                 or that was the last run                                      State::ended, State::failed
#include "examples/monitor/rendition.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "examples/monitor/error_text.h"
#include "examples/monitor/markup.h"
#include "examples/monitor/redact.h"

namespace monitor {

namespace {

constexpr double kLongestPause = 60, kWellFor = 30;    // s: the next pause; scored so long, it is short again
constexpr double kPatience = 10, kPatienceForEnd = 5;  // s
constexpr int kMostAbandoned = 8;
constexpr int64_t kAsleep = 3 * G_USEC_PER_SEC;  // between calls that come once a second

int abandoned_now = 0;

std::string seconds_text(double seconds) { return plain(seconds) + " s"; }

StructurePtr stats_of(const Pipeline &pipeline) {
  GstStructure *stats = nullptr;
  g_object_get(pipeline.element(), "stats", &stats, nullptr);
  return StructurePtr(stats);
}

}  // namespace

struct Rendition::Run {
  std::shared_ptr<Pipeline> pipeline;
  guint watch = 0;         // of its messages
  std::optional<End> end;  // set: it is being brought down
};

Rendition::Rendition(const ChannelSettings &channel, const RenditionSettings &rendition, bool once,
                     Record &record, std::function<void()> on_end)
    : channel_(channel),
      rendition_(rendition),
      once_(once),
      finite_((once || !channel.loop) && is_plain_file(channel.reference) &&
              (rendition.uri.empty() || is_plain_file(rendition.uri))),
      record_(record),
      on_end_(std::move(on_end)),
      messages_(record),
      results_(results_name(channel, rendition.name)) {}

Rendition::~Rendition() {
  if (run_) g_source_remove(run_->watch);
}

std::string Rendition::check() const {
  std::string error;
  const auto pipeline = Pipeline::create(channel_, rendition_, "", error);
  return pipeline ? pipeline->try_element() : error;
}

void Rendition::set_state(State state) {
  state_ = state;
  record_.now().state = state;
  record_.changed();
}

// ---- a run ----------------------------------------------------------------------------------------

void Rendition::start() {
  scoring_since_ = 0;
  duration_ = -1;
  messages_.run_begins();
  set_state(State::connecting);
  const std::string file = std::exchange(without_file_, false) ? "" : results_.next();
  std::string error;
  auto pipeline = Pipeline::create(channel_, rendition_, file, error);
  if (!pipeline) {  // an element that is gone since the start
    record_.event(EventKind::lost, redact(error), g_get_real_time());
    results_.run_ends(false);
    return go_on(End::lost, false);
  }
  run_ = std::make_shared<Run>();
  run_->pipeline = std::move(pipeline);
  const GstBusFunc on_message = [](GstBus *, GstMessage *message, gpointer self) -> gboolean {
    static_cast<Rendition *>(self)->read(message);
    return G_SOURCE_CONTINUE;
  };
  run_->watch = gst_bus_add_watch(run_->pipeline->bus(), on_message, this);
  const auto plays = std::make_shared<bool>();
  in_background([plays, pipeline = run_->pipeline] { *plays = pipeline->play(); },
                [this, plays, run = run_] {
                  if (*plays || run != run_) return;
                  read_bus();  // why
                  lost("The pipeline does not start");
                });
}

void Rendition::begin_again() {
  if (abandoned_now >= kMostAbandoned)  // until one of them has come down
    return timer_.set(pause_, [this] { begin_again(); });
  ++record_.now().counters.restarts;
  start();
}

void Rendition::lost(const std::string &why) {
  if (!run_ || run_->end) return;
  record_.event(EventKind::lost, why, g_get_real_time());
  bring_down(End::lost);
}

void Rendition::bring_down(End end) {
  if (run_->end) return;
  run_->end = end;
  if (end == End::lost || end == End::no_file) set_state(State::lost);
  timer_.set(kPatience, [this] { is_down(true); });
  in_background([pipeline = run_->pipeline] { pipeline->stop(); },
                [this, run = run_] {
                  if (run == run_)
                    is_down(false);
                  else  // it was left alone, and has come down after all
                    --abandoned_now;
                });
}

void Rendition::is_down(bool abandoned) {
  timer_.cancel();
  if (abandoned) {
    ++abandoned_now;
    record_.event(EventKind::warning, "A pipeline does not stop, and is left alone", g_get_real_time());
  } else {
    read_bus();
    if (const StructurePtr last = stats_of(*run_->pipeline)) messages_.stats(last.get(), stopping_);
  }
  const End end = *run_->end;
  const bool scored = messages_.scored() > 0;
  messages_.run_ends();
  results_.run_ends(scored);
  if (end == End::streams && !stopping_)
    record_.event(EventKind::ended, "End of the streams", g_get_real_time());
  g_source_remove(run_->watch);
  run_.reset();
  go_on(end, scored);
}

void Rendition::go_on(End end, bool scored) {
  const bool failed = finite_ && end == End::lost && !stopping_;
  if (stopping_ || failed || (ends() && end == End::streams)) {
    if (stopping_) record_.event(EventKind::ended, "Stopped", g_get_real_time());
    set_state(failed ? State::failed : State::ended);
    return on_end_();
  }
  const bool well =
      scoring_since_ && g_get_monotonic_time() - scoring_since_ >= int64_t(kWellFor * G_USEC_PER_SEC);
  if (well || (end == End::streams && scored)) pause_ = 0;
  pause_ = std::clamp(2 * pause_, channel_.retry_seconds, kLongestPause);
  set_state(end == End::streams ? State::repeating : State::lost);
  record_.event(EventKind::retry, "Next attempt in " + seconds_text(pause_), g_get_real_time());
  timer_.set(pause_, [this] { begin_again(); });
}

void Rendition::stop() {
  if (stopping_ || ended()) return;
  stopping_ = true;
  if (!run_) {
    timer_.cancel();
    return go_on(End::stopped, false);
  }
  if (run_->end) return;
  if (state_ != State::running) return bring_down(End::stopped);
  // What an encoder still holds comes out with the end of the streams.
  timer_.set(kPatienceForEnd, [this] { bring_down(End::stopped); });
  in_background([pipeline = run_->pipeline] { pipeline->end(); });
}

// ---- once a second --------------------------------------------------------------------------------

void Rendition::tick() {
  const int64_t now = g_get_monotonic_time();
  // Of a process that was stopped, or of a machine that was, nothing could come.
  if (now - ticked_ > kAsleep) awake_since_ = now;
  ticked_ = now;
  if (run_ && !run_->end) {
    const Pipeline &pipeline = *run_->pipeline;
    if (const StructurePtr now = stats_of(pipeline)) messages_.stats(now.get(), stopping_);
    if (const std::string caps = pipeline.caps(); !caps.empty()) record_.now().caps = caps;
    if (state_ == State::running) {
      g_signal_emit_by_name(pipeline.element(), "post-pooled");
      record_.now().stream_fps = pipeline.fps();
      if (duration_ < 0 && !pipeline.live()) duration_ = pipeline.duration();
    }
    look_for_stall();
  }
  record_.tick(g_get_real_time());
}

void Rendition::look_for_stall() {
  if (stopping_) return;
  const Pipeline &pipeline = *run_->pipeline;
  auto ref = pipeline.flow(Pipeline::reference), dist = pipeline.flow(Pipeline::distorted);
  for (Pipeline::Flow *flow : {&ref, &dist})
    flow->silent_us = std::min(flow->silent_us, ticked_ - awake_since_);
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
           !is_plain_file(rendition_.uri))
    lost("The distorted stream has ended, the reference goes on");
  else if (ref.ended && !dist.ended && ref.silent_us > limit && !is_plain_file(channel_.reference))
    lost("The reference has ended, the distorted stream goes on");
}

double Rendition::progress() const {
  if (ended()) return 1;
  const uint64_t time = messages_.stream_time();
  if (duration_ <= 0 || !GST_CLOCK_TIME_IS_VALID(time)) return -1;
  return std::clamp(double(time) / double(duration_), 0., 1.);
}

// ---- messages -------------------------------------------------------------------------------------

void Rendition::read_bus() {
  while (run_) {
    const MessagePtr message(gst_bus_pop(run_->pipeline->bus()));
    if (!message) return;
    read(message.get());
  }
}

void Rendition::read(GstMessage *message) {
  if (!run_) return;
  const Pipeline &pipeline = *run_->pipeline;
  const bool of_element = GST_MESSAGE_SRC(message) == GST_OBJECT(pipeline.element());
  const bool about_file = of_element && is_about_file(message);
  const GstStructure *structure = gst_message_get_structure(message);
  switch (GST_MESSAGE_TYPE(message)) {
    case GST_MESSAGE_ERROR:
      if (run_->end) break;
      if (about_file) {  // then without it
        messages_.warning(pipeline.text_of(message), true);
        without_file_ = true;
        bring_down(End::no_file);
      } else {
        lost(pipeline.text_of(message));
      }
      break;
    case GST_MESSAGE_WARNING:
      if (is_about_decoding(message)) break;  // an error follows where that was the video
      messages_.warning(pipeline.text_of(message), about_file);
      break;
    case GST_MESSAGE_LATENCY:
      in_background([pipeline = run_->pipeline] {
        gst_bin_recalculate_latency(GST_BIN(GST_ELEMENT_PARENT(pipeline->element())));
      });
      break;
    case GST_MESSAGE_ELEMENT:
      if (!of_element || !structure) break;
      messages_.element(structure, pipeline.thumbnails(Pipeline::reference),
                        pipeline.thumbnails(Pipeline::distorted));
      if (state_ != State::connecting || run_->end || messages_.scored() == 0) break;
      scoring_since_ = g_get_monotonic_time();
      record_.now().caps = pipeline.caps();
      set_state(State::running);
      record_.event(EventKind::started, "First score", g_get_real_time());
      break;
    case GST_MESSAGE_APPLICATION:
      read_own(structure);
      break;
    default:
      break;
  }
}

// What the pipeline's probes have seen.
void Rendition::read_own(const GstStructure *message) {
  if (gst_structure_has_name(message, "end")) {
    bring_down(stopping_ ? End::stopped : End::streams);
  } else if (gst_structure_has_name(message, "jump")) {
    double seconds = 0;
    gst_structure_get_double(message, "seconds", &seconds);
    const std::string side = gst_structure_get_string(message, "side");
    record_.event(
        EventKind::reset,
        "The " + side + " stream's time stamps jump by " + seconds_text(std::round(seconds)) + ": taken out",
        g_get_real_time());
  } else if (gst_structure_has_name(message, "change")) {
    const std::string property = gst_structure_get_string(message, "property");
    const std::string value = gst_structure_get_string(message, "value");
    record_.event(EventKind::changed, property + " = " + (is_secret(property) ? "***" : redact(value)),
                  g_get_real_time());
  }
}

}  // namespace monitor
