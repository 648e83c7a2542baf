#include "gst/vmafhip/measurement.h"

#include <algorithm>
#include <string>
#include <utility>

#include "gst/vmafhip/dropin.h"
#include "gst/vmafhip/enums.h"
#include "gst/vmafhip/errors.h"
#include "gst/vmafhip/log.h"
#include "gst/vmafhip/mapping.h"

#define GST_CAT_DEFAULT vmafhip_debug

namespace vmafhip {

Measurement::Measurement(GstElement *element, Inbox &inbox, Output &output, PictureReader &reader,
                         GpuSharing &sharing)
    : element_(element),
      inbox_(inbox),
      output_(output),
      reader_(reader),
      sharing_(sharing),
      results_(element, inbox),
      monitor_(report_, [this](StructurePtr structure) { post(std::move(structure)); }),
      last_score_spec_(g_object_class_find_property(G_OBJECT_GET_CLASS(element), "last-score")) {}

// ---- life --------------------------------------------------------------------------------------

bool Measurement::start(const Settings &settings) {
  apply_log_level(settings.log_level);
  if (Status s = check_message_name(settings.message_name); !s.ok()) {
    post_error(element_, s);
    return false;
  }
  SessionOptions options;
  options.models = models_of(settings);
  options.features = features_of(settings);
  options.subsample = int(settings.subsample);
  options.backend = settings.backend;
  options.device = settings.backend == Backend::cpu ? settings.device : sharing_.device_for(settings.device);
  options.threads = int(settings.threads);
  options.scale = settings.scale_method;
  auto session = Session::create(options);
  if (const Status &s = session.status(); !s.ok()) {
    post_error(element_, s);
    return false;
  }
  if (Status s = report_.start(**session, settings.score_source); !s.ok()) {
    post_error(element_, s);
    return false;
  }
  if (lacks_interval(settings, (*session)->models())) post_no_intervals(element_);
  if (!results_.start(settings, **session)) return false;
  settings_ = settings;
  session_ = std::move(*session);
  reader_.start(*session_);
  sharing_.announce(session_->gpu());
  session_->on_progress([this] { inbox_.wake(); });
  monitor_.start(settings.window, session_->feature_names().size(), session_->models().size());
  for (const ModelInfo &m : session_->models())
    GST_INFO_OBJECT(element_, "model %s: %s %s", m.label.c_str(), std::string(to_string(m.source)).c_str(),
                    m.origin.c_str());
  GST_INFO_OBJECT(element_, "back end: %s%s%s", session_->backend_description().c_str(),
                  session_->backend_reason().empty() ? "" : "; ", session_->backend_reason().c_str());
  distances_ = DistanceWatch();
  pictures_ = PictureWatch(!session_->models().empty());
  index_ = frame_number_ = index_at_start_ = 0;
  last_time_ = 0;
  last_ = PairInfo();
  wakes_at_ = 1;
  finished_ = pooled_ = untimed_said_ = scaled_said_ = failure_said_ = lost_ = false;
  return true;
}

void Measurement::stop() {
  if (!session_) return report_.stop();
  session_->finish();
  while (session_->wait(scores_) == Session::Next::ready) scored(scores_);
  check_files();
  results_.stop(report_.counters().get());
  if (!pooled_) conclude(index_ != index_at_start_);
  report_.stop();
  in_flight_.clear();
  configured_.reset();
  reader_.stop();
  sharing_.conclude();
  session_.reset();
}

// ---- pairs in ----------------------------------------------------------------------------------

Measurement::Submitted Measurement::submit(std::optional<FramePair> &pair) {
  if (const Submitted result = configure(*pair); result != Submitted::done) return result;
  if (finished_) {
    if (!drain()) return Submitted::interrupted;
    begin_anew("segment");
  }
  if (!session_->has_room() || results_.full()) return Submitted::no_room;
  auto ref = reader_.read(Side::ref, pair->ref.data);
  auto dist = reader_.read(Side::dist, pair->dist.data);
  if (!ref.ok() || !dist.ok()) return refuse(ref.status(), dist.status());
  PairInfo info = describe(*pair);
  info.frame_number = frame_number_++;
  last_time_ = (settings_.output == Side::ref ? pair->ref : pair->dist).time;
  const bool unknowable = pair->by_time;
  pair.reset();
  if (!info.repeated && info.running_time && info.dist_running_time &&
      settings_.sync == SyncMode::timestamp && distances_.add(*info.dist_running_time - *info.running_time))
    post_not_simultaneous(element_);
  if (session_->scores_next())
    in_flight_.push_back(info);
  else
    output_.settle(info.ticket);
  say_in_flight();
  report_.count([&](Counters &c) {
    ++c.compared;
    c.repeated += info.repeated;
    c.unknowable += unknowable;
    c.read = reader_.counts();
  });
  session_->submit(std::move(*ref), std::move(*dist));  // there is room, and nobody else submits
  return Submitted::done;
}

// For errors that name the size of a picture which is not its stream's.
static std::string crop_note(const char *pad, const Stream &stream, const Rect &part) {
  const int width = GST_VIDEO_INFO_WIDTH(&stream.info), height = GST_VIDEO_INFO_HEIGHT(&stream.info);
  if (part.width == width && part.height == height) return "";
  return std::string("; ") + pad + " is cropped from " + std::to_string(width) + "x" +
         std::to_string(height) + " to " + std::to_string(part.width) + "x" + std::to_string(part.height);
}

Measurement::Submitted Measurement::configure(const FramePair &pair) {
  const QueuedFrame &ref = pair.ref.data, &dist = pair.dist.data;
  const auto ref_part = picture_part(ref.buffer.get(), *ref.stream);
  const auto dist_part = picture_part(dist.buffer.get(), *dist.stream);
  if (!ref_part.ok() || !dist_part.ok()) return refuse(ref_part.status(), dist_part.status());
  std::vector<Remark> remarks;
  const Status alike = pictures_.check(look_at(ref.buffer.get(), *ref.stream, *ref_part),
                                       look_at(dist.buffer.get(), *dist.stream, *dist_part), remarks);
  for (const Remark &r : remarks)
    GST_ELEMENT_WARNING(element_, STREAM, FORMAT, ("%s", r.text.c_str()), ("%s", r.detail.c_str()));
  if (!alike.ok()) return fail(alike);
  const std::pair formats(picture_format(ref.stream->info, *ref_part),
                          picture_format(dist.stream->info, *dist_part));
  if (configured_ == formats) return Submitted::done;
  if (configured_) {
    if (!drain()) return Submitted::interrupted;
    begin_anew("caps");
    reader_.forget();
  }
  configured_.reset();
  const std::string cropped =
      crop_note("ref_sink", *ref.stream, *ref_part) + crop_note("dist_sink", *dist.stream, *dist_part);
  if (Status s = session_->configure(formats.first, formats.second); !s.ok())
    return fail(Status(s.code(), s.message() + cropped));
  configured_ = formats;
  monitor_.set_in_flight(session_->max_in_flight());  // a GPU has more, by their size
  inbox_.set_depth(session_->frames_at_a_time());
  report_.configure(*session_);
  results_.configure(formats.first);
  say_remarks();
  // Once: the sizes of an adaptive stream change all the time.
  const bool scaled =
      formats.first.width != formats.second.width || formats.first.height != formats.second.height;
  if (scaled && !std::exchange(scaled_said_, true))
    post_scaled(element_, formats.first, formats.second, settings_.scale_method, cropped);
  return Submitted::done;
}

Measurement::Submitted Measurement::refuse(const Status &ref, const Status &dist) {
  const Status &status = ref.ok() ? dist : ref;
  return fail(Status(status.code(), (ref.ok() ? "dist_sink: " : "ref_sink: ") + status.message()));
}

Measurement::Submitted Measurement::fail(const Status &status) {
  if (!drain()) return Submitted::interrupted;
  if (!pooled_) conclude(index_ != index_at_start_);
  pooled_ = true;
  post_error(element_, status);
  return Submitted::failed;
}

PairInfo Measurement::describe(const FramePair &pair) {
  const QueuedFrame &ref = pair.ref.data, &dist = pair.dist.data;
  PairInfo info;
  info.timestamp = GST_BUFFER_PTS(ref.buffer.get());
  info.duration = GST_BUFFER_DURATION(ref.buffer.get());
  info.dist_timestamp = GST_BUFFER_PTS(dist.buffer.get());
  if (GST_CLOCK_TIME_IS_VALID(info.timestamp) && ref.stream->segment.format == GST_FORMAT_TIME)
    info.stream_time = gst_segment_to_stream_time(&ref.stream->segment, GST_FORMAT_TIME, info.timestamp);
  if (ref.timed) info.running_time = pair.ref.time;
  if (dist.timed) info.dist_running_time = pair.dist.time;
  info.ticket = (settings_.output == Side::ref ? ref : dist).ticket;
  info.repeated = pair.repeated;
  info.sync = pair.by_time ? nick_of(SyncMode::timestamp) : nick_of(settings_.sync);
  if (info.repeated && settings_.output == Side::dist) info.ticket = Output::kNoTicket;  // of another pair
  return info;
}

// ---- scores out --------------------------------------------------------------------------------

void Measurement::leave_out(const FramePair &pair, gint64 lag) {
  const PairInfo info = describe(pair);
  output_.settle(info.ticket);
  guint64 processed = 0, dropped = 0;
  report_.count([&](Counters &c) {
    processed = c.compared;
    dropped = ++c.skipped_overload;
  });
  GstMessage *message = gst_message_new_qos(
      GST_OBJECT(element_), TRUE,
      info.running_time && *info.running_time >= 0 ? guint64(*info.running_time) : GST_CLOCK_TIME_NONE,
      info.stream_time, info.timestamp, info.duration);
  gst_message_set_qos_values(
      message, lag, double(processed + dropped) / double(std::max<guint64>(processed, 1)), 1'000'000);
  gst_message_set_qos_stats(message, GST_FORMAT_BUFFERS, processed, dropped);
  gst_element_post_message(element_, message);
}

void Measurement::check_files() {
  results_.check();
  if (failure_said_ || lost_) return;
  const Status status = session_->files_status();
  if (status.ok()) return;
  failure_said_ = true;
  GST_ELEMENT_WARNING(element_, RESOURCE, WRITE, ("%s", status.message().c_str()),
                      ("The stream goes on being measured; these files are not complete."));
}

void Measurement::say_remarks() {
  for (const std::string &remark : session_->remarks())
    if (remarks_said_.insert(remark).second) {
      GST_ELEMENT_WARNING(element_, STREAM, FORMAT, ("%s", remark.c_str()), (nullptr));
      report_.set_backend(*session_);  // it may be the GPU that is lost
    }
}

// What it remarks comes before the scores that it is about, and before what is pooled.
Session::Next Measurement::next() {
  const Session::Next next = session_->next(scores_);
  say_remarks();
  return next;
}

bool Measurement::collect() {
  check_files();
  for (;;) {
    const Session::Next next = this->next();
    if (next == Session::Next::failed) lose();
    if (next != Session::Next::ready) break;
    scored(scores_);
  }
  return !lost_;
}

bool Measurement::wakes_at(bool several) {
  const int frames = several ? session_->frames_at_a_time() : 1;
  return std::exchange(wakes_at_, frames) == frames || session_->call_at(frames);
}

void Measurement::lose() {
  if (std::exchange(lost_, true)) return;
  if (!pooled_) conclude(index_ != index_at_start_);
  pooled_ = true;
  post_error(element_, session_->status());
}

void Measurement::scored(const FrameScores &scores) {
  PairInfo info = in_flight_.front();
  in_flight_.pop_front();
  say_in_flight();
  info.index = index_++;
  last_ = info;
  results_.frame(info.frame_number, scores);
  const Live now = live();
  const PictureScores &of = scores.dist.front();
  monitor_.reach(info.running_time, info.duration, now.pool_method);
  report_.scored(info, of, pools(), now.pool_method);
  GST_CAT_LOG_OBJECT(vmafhip_score_debug, element_, "frame %" G_GUINT64_FORMAT ": %f", info.index,
                     report_.score(of));
  if (now.frame_message || settings_.attach_meta) {
    StructurePtr structure = report_.frame(info, scores), meta;
    if (settings_.attach_meta)
      meta.reset(now.frame_message ? gst_structure_copy(structure.get()) : structure.release());
    if (!output_.settle(info.ticket, std::move(meta)) && settings_.attach_meta &&
        info.ticket != Output::kNoTicket)
      report_.count([](Counters &c) { ++c.late; });
    if (now.frame_message) post(std::move(structure));
  }
  if (!info.running_time && (settings_.window > 0 || now.alert.needs_time()) &&
      !std::exchange(untimed_said_, true))
    post_no_windows(element_);
  monitor_.scored(info, of, now.pool_method, now.alert);
  g_object_notify_by_pspec(G_OBJECT(element_), last_score_spec_);
}

bool Measurement::drain() {
  session_->finish();
  finished_ = true;
  return await_scores();
}

bool Measurement::await_scores() {
  for (;;) {
    switch (next()) {
      case Session::Next::ready:
        scored(scores_);
        break;
      case Session::Next::failed:
        lose();
        return true;
      case Session::Next::drained:
        return true;
      case Session::Next::pending:
        if (inbox_.wait(std::nullopt) == Inbox::Woken::interrupted) return false;
    }
  }
}

void Measurement::let_go() {
  if (!await_scores()) return;
  for (const PairInfo &info : in_flight_) output_.settle(info.ticket);
}

void Measurement::passed_over(const FrameAligner::Frame &frame) {
  if (!frame.data.timed) return;
  // What can be scored of the window that ends here belongs to it, unless live frames would be late for that.
  if (monitor_.opens_window(frame.time) && !inbox_.live() && !await_scores()) return;
  monitor_.reach(frame.time, GST_BUFFER_DURATION(frame.data.buffer.get()), live().pool_method);
}

void Measurement::begin_anew(const char *reason, bool asked_for) {
  const bool say = asked_for || index_ != index_at_start_;
  if (!pooled_) conclude(say);
  if (say)
    post(StructurePtr(gst_structure_new("vmafhip", "type", G_TYPE_STRING, "reset", "reason", G_TYPE_STRING,
                                        reason, "index", G_TYPE_UINT64, index_, nullptr)));
  session_->reset();
  report_.restart_clock();
  finished_ = pooled_ = false;
  for (const PairInfo &info : in_flight_) output_.settle(info.ticket);
  in_flight_.clear();
  say_in_flight();
  index_at_start_ = index_;
}

// The last ones may need a successor.
void Measurement::say_in_flight() {
  inbox_.set_measured(std::max(0, int(in_flight_.size()) - session_->lookahead()));
}

void Measurement::end() {
  if (!drain() || lost_) return;
  check_files();
  if (distances_.finish()) post_not_simultaneous(element_);
  results_.finish(report_.counters().get());
  conclude(true);
}

void Measurement::conclude(bool with_pooled) {
  monitor_.finish(live().pool_method);
  if (!with_pooled) return;
  post(report_.pooled("pooled", pools(), live().pool_method));
  pooled_ = true;
}

void Measurement::tell(const SyncNews &news) {
  static constexpr const char *kStates[] = {"searching", "locked", "lost", "unknowable"};
  const char *state = kStates[size_t(news.state)];
  report_.set_sync(state, news.offset);
  GST_INFO_OBJECT(element_, "sync: %s, offset %" GST_STIME_FORMAT ", confidence %.2f", state,
                  GST_STIME_ARGS(news.offset), news.confidence);
  post(StructurePtr(gst_structure_new("vmafhip", "type", G_TYPE_STRING, "sync", "state", G_TYPE_STRING, state,
                                      "offset", G_TYPE_INT64, news.offset, "confidence", G_TYPE_DOUBLE,
                                      news.confidence, "frames", G_TYPE_UINT64, guint64(news.frames),
                                      nullptr)));
}

void Measurement::post_pooled() { post(report_.pooled("pooled", pools(), live().pool_method)); }

void Measurement::update(const Settings &settings) {
  std::lock_guard lock(live_mutex_);
  live_ = {settings.frame_message, settings.pool_method, settings.alert};
}

void Measurement::post(StructurePtr structure) {
  structure = named_message(std::move(structure), settings_.message_name, last_);
  gst_element_post_message(element_, gst_message_new_element(GST_OBJECT(element_), structure.release()));
}

}  // namespace vmafhip
