#include "gst/vmafhip/comparer.h"

#include <cstdlib>
#include <utility>

GST_DEBUG_CATEGORY_EXTERN(vmafhip_debug);
#define GST_CAT_DEFAULT vmafhip_debug

namespace vmafhip {

Comparer::Comparer(GstElement *element, GstPad *ref, GstPad *dist, GstPad *src)
    : element_(element),
      ref_pad_(ref),
      dist_pad_(dist),
      src_pad_(src),
      last_score_spec_(g_object_class_find_property(G_OBJECT_GET_CLASS(element), "last-score")),
      output_(src, ref) {}

// ---- life --------------------------------------------------------------------------------------

bool Comparer::start(const Settings &settings) {
  SessionOptions options;
  options.models = settings.model;
  options.backend = settings.backend;
  options.threads = int(settings.threads);
  auto session = Session::create(options);
  if (!session.ok()) {
    fail(session.status());
    return false;
  }
  settings_ = settings;
  session_ = std::move(*session);
  session_->on_progress([this] { inbox_.wake(); });
  report_.start(*session_);
  for (const ModelInfo &m : session_->models())
    GST_INFO_OBJECT(element_, "model %s: %s %s", m.label.c_str(), std::string(to_string(m.source)).c_str(),
                    m.origin.c_str());
  GST_INFO_OBJECT(element_, "back end: %s", session_->backend_description().c_str());
  output_ = Output(src_pad_, pad(settings.output));
  aligner_ = Frames(settings.sync, settings.tolerance);
  distances_ = DistanceWatch();
  index_ = frame_number_ = index_at_start_ = 0;
  gap_bytes_ = pair_time_ = 0;
  hurry_ = over_ = flushed_ = finished_ = restart_ = pooled_ = false;
  silent_.reset();
  // In the engine, in the inbox, two in the aligner and a pair that waits for room.
  frames_held_ = session_->max_in_flight() + int(Inbox::kBusyFrames) + 2 + 1;
  // Its successors, for temporal features.
  frames_awaited_ = settings.attach_meta ? session_->lookahead() + 1 : 0;
  inbox_.start({settings.sync_window, settings.max_queue_bytes});
  return true;
}

void Comparer::stop() {
  frames_held_ = frames_awaited_ = 0;
  output_.clear();
  pair_.reset();
  in_flight_.clear();
  configured_.reset();
  aligner_ = Frames();
  session_.reset();
  inbox_.start({});
}

GstClockTime Comparer::latency() const {
  const int frames = frames_awaited_;
  if (frames == 0) return 0;
  return GstClockTime(frames) * frame_duration_ + 40 * GST_MSECOND;  // and the time the engine takes
}

// ---- one turn ----------------------------------------------------------------------------------

void Comparer::iterate() {
  inbox_.wait_while_held();
  if (inbox_.interrupted()) {
    gst_pad_pause_task(src_pad_);
    return;
  }
  if (restart_.exchange(false)) start_anew();
  if (over_) {
    gst_pad_pause_task(src_pad_);
    return;
  }
  collect();
  if (const GstFlowReturn flow = output_.release(restart_); flow != GST_FLOW_OK) return leave(flow);
  if (pair_) return submit_pair();
  for (const Side side : {Side::ref, Side::dist}) {
    if (inbox_.restarted(side)) {
      aligner_.restart(side);
      flushed_ = true;
    }
    if (inbox_.open(side)) aligner_.reopen(side);  // it may go on after its end
  }
  if (flushed_) {
    if (!drain()) return;
    begin_anew("flush");
    flushed_ = false;
  }
  const bool hurry = std::exchange(hurry_, false);
  Frames::Decision decision = aligner_.step(hurry);
  if (hurry) let_go();
  switch (decision.step) {
    case Frames::Step::need_ref:
      return fetch(Side::ref);
    case Frames::Step::need_dist:
      return fetch(Side::dist);
    case Frames::Step::drop_ref:
      return unmatched(Side::ref, *decision.ref);
    case Frames::Step::drop_dist:
      return unmatched(Side::dist, *decision.dist);
    case Frames::Step::end:
      return end_of_streams();
    case Frames::Step::pair:
      pair_ = Pair{std::move(*decision.ref), std::move(*decision.dist)};
      return;
  }
}

void Comparer::fetch(Side side) {
  Item item;
  switch (inbox_.take(side, item)) {
    case Inbox::Taken::item:
      return accept(side, std::move(item));
    case Inbox::Taken::ended:
      return aligner_.end(side);
    case Inbox::Taken::nothing:
      return idle(side);
  }
}

void Comparer::accept(Side side, Item item) {
  if (item.event) {
    if (side == settings_.output) output_.hold(std::move(item.event), std::move(item.stream));
    return;
  }
  if (!item.timed && settings_.sync == SyncMode::timestamp) return refuse_untimed(side, *item.stream);
  if (silent_ == side) silent_.reset();
  report_.count([&](Counters &c) { ++(side == Side::ref ? c.ref_frames : c.dist_frames); });
  In in{std::move(item.buffer), std::move(item.stream), 0, item.bytes, item.timed};
  if (side == settings_.output) {
    in.ticket = output_.hold(in.buffer, in.stream);
    // Nothing will be attached, so nothing needs to wait.
    if (!settings_.attach_meta) output_.settle(in.ticket);
  }
  aligner_.push(side, {std::move(in), item.time});
}

void Comparer::refuse_untimed(Side side, const Stream &stream) {
  GST_ELEMENT_ERROR(element_, STREAM, FORMAT,
                    (stream.segment.format == GST_FORMAT_TIME ? "Frames on %s have no time stamps"
                                                              : "The segment on %s is not one of time",
                     GST_PAD_NAME(pad(side))),
                    ("Pairing by time needs them: give the source time stamps (appsrc do-timestamp=true, "
                     "videorate, a parser), or set sync=order to pair by arrival."));
  leave(GST_FLOW_ERROR);
}

void Comparer::idle(std::optional<Side> needed) {
  switch (inbox_.wait(needed, !needed || gst_pad_is_linked(pad(*needed)))) {
    case Inbox::Woken::changed:
    case Inbox::Woken::interrupted:
      return;
    case Inbox::Woken::overflow:  // live: frames go on without partners, which must be said once
      hurry_ = true;
      if (silent_ == needed) return;
      silent_ = needed;
      return say_starving(*needed, false);
    case Inbox::Woken::starving:
      return say_starving(*needed, false);
    case Inbox::Woken::starved:
      return say_starving(*needed, true);
  }
}

void Comparer::say_starving(Side needed, bool fatal) {
  const char *starved = GST_PAD_NAME(pad(needed)), *waiting = GST_PAD_NAME(pad(other(needed)));
  const auto level = inbox_.level(other(needed));
  gchar *debug =
      !gst_pad_is_linked(pad(needed))
          ? g_strdup_printf("Nothing is linked to %s; link a source to it.", starved)
          : g_strdup_printf(
                "%" G_GUINT64_FORMAT " frames, %" G_GUINT64_FORMAT
                " bytes wait on %s. If both pads hang on one tee, "
                "the branch to %s keeps more frames to itself: raise sync-window (%" G_GUINT64_FORMAT
                " ns) or max-queue-bytes (%" G_GUINT64_FORMAT
                "), or let the encoder look less far ahead. "
                "Otherwise the source of %s gives nothing.",
                level.frames, level.bytes, waiting, starved, settings_.sync_window, settings_.max_queue_bytes,
                starved);
  gchar *text = g_strdup_printf("No frame comes on %s, and %s can go no further", starved, waiting);
  if (fatal)
    GST_ELEMENT_ERROR(element_, STREAM, FAILED, ("%s", text), ("%s", debug));
  else
    GST_ELEMENT_WARNING(element_, STREAM, FAILED, ("%s", text), ("%s", debug));
  g_free(text);
  g_free(debug);
  if (fatal) leave(GST_FLOW_ERROR);
}

void Comparer::unmatched(Side side, const Frames::Frame &frame) {
  report_.count([&](Counters &c) { ++(side == Side::ref ? c.ref_unmatched : c.dist_unmatched); });
  GST_LOG_OBJECT(element_, "%s frame at %" GST_STIME_FORMAT " has no partner", GST_PAD_NAME(pad(side)),
                 GST_STIME_ARGS(frame.time));
  if (aligner_.ended(other(side))) drain();  // the last pair was the last
  if (side != settings_.output) return;
  output_.settle(frame.data.ticket);
  // The last pair may need a successor for its score, and all output waits behind it: not longer than frames may
  // wait for each other.
  gap_bytes_ += frame.data.bytes;
  if (gap_bytes_ > settings_.max_queue_bytes ||
      guint64(std::abs(frame.time - pair_time_)) >= settings_.sync_window)
    let_go();
}

// Frames that wait for a successor leave without score; it is reported when it comes.
void Comparer::let_go() {
  if (!await_scores()) return;
  for (const PairInfo &info : in_flight_) output_.settle(info.ticket);
}

// ---- engine ------------------------------------------------------------------------------------

void Comparer::submit_pair() {
  if (!configure(*pair_)) return;
  if (finished_) {
    if (!drain()) return;
    begin_anew("segment");
  }
  if (!session_->has_room()) return idle(std::nullopt);
  auto ref = map_picture(pair_->ref.data.buffer, pair_->ref.data.stream);
  auto dist = map_picture(pair_->dist.data.buffer, pair_->dist.data.stream);
  for (const auto *picture : {&ref, &dist})
    if (!picture->ok()) {
      fail(
          Status(picture->status().code(), std::string(GST_PAD_NAME(picture == &ref ? ref_pad_ : dist_pad_)) +
                                               ": " + picture->status().message()));
      return leave(GST_FLOW_ERROR);
    }
  PairInfo info = describe(*pair_);
  gap_bytes_ = 0;
  pair_time_ = settings_.output == Side::ref ? info.running_time : info.dist_running_time;
  pair_.reset();
  if (info.timed && settings_.sync == SyncMode::timestamp &&
      distances_.add(info.dist_running_time - info.running_time))
    say_not_simultaneous();
  in_flight_.push_back(info);
  report_.count([](Counters &c) { ++c.compared; });
  session_->submit(std::move(*ref), std::move(*dist));  // there is room, and nobody else submits
}

// True if the session is set to the pair's formats. False: interrupted (the pair stays) or failed.
bool Comparer::configure(const Pair &pair) {
  const std::pair formats(picture_format(pair.ref.data.stream->info),
                          picture_format(pair.dist.data.stream->info));
  if (configured_ == formats) return true;
  if (configured_) {
    if (!drain()) return false;
    begin_anew("caps");
  }
  configured_.reset();
  if (Status s = session_->configure(formats.first, formats.second); !s.ok()) {
    fail(s);
    leave(GST_FLOW_ERROR);
    return false;
  }
  configured_ = formats;
  return true;
}

PairInfo Comparer::describe(const Pair &pair) {
  const In &ref = pair.ref.data, &dist = pair.dist.data;
  PairInfo info;
  info.frame_number = frame_number_++;
  info.timestamp = GST_BUFFER_PTS(ref.buffer.get());
  info.duration = GST_BUFFER_DURATION(ref.buffer.get());
  info.dist_timestamp = GST_BUFFER_PTS(dist.buffer.get());
  if (GST_CLOCK_TIME_IS_VALID(info.timestamp) && ref.stream->segment.format == GST_FORMAT_TIME)
    info.stream_time = gst_segment_to_stream_time(&ref.stream->segment, GST_FORMAT_TIME, info.timestamp);
  info.timed = ref.timed && dist.timed;
  info.running_time = pair.ref.time;
  info.dist_running_time = pair.dist.time;
  info.ticket = (settings_.output == Side::ref ? ref : dist).ticket;
  return info;
}

void Comparer::collect() {
  while (session_->next(scores_) == Session::Next::ready) scored(scores_);
}

void Comparer::scored(const FrameScores &scores) {
  pooled_ = false;
  PairInfo info = in_flight_.front();
  in_flight_.pop_front();
  info.index = index_++;
  report_.scored(*session_, scores, pool_method_);
  if (frame_message_ || settings_.attach_meta) {
    StructurePtr structure = report_.frame(info, scores);
    output_.settle(info.ticket, settings_.attach_meta ? structure.get() : nullptr);
    if (frame_message_) post(std::move(structure));
  }
  g_object_notify_by_pspec(G_OBJECT(element_), last_score_spec_);
}

bool Comparer::drain() {
  session_->finish();
  finished_ = true;
  return await_scores();
}

bool Comparer::await_scores() {
  for (;;) {
    switch (session_->next(scores_)) {
      case Session::Next::ready:
        scored(scores_);
        break;
      case Session::Next::drained:
        return true;
      case Session::Next::pending:
        if (inbox_.wait(std::nullopt) == Inbox::Woken::interrupted) return false;
    }
  }
}

// After drain(), or when what is in flight is void: pools and temporal features start anew.
void Comparer::begin_anew(const char *reason) {
  if (index_ != index_at_start_) {  // something was scored since the last time
    if (!pooled_) post(report_.pooled(*session_, pool_method_));
    post(StructurePtr(gst_structure_new("vmafhip", "type", G_TYPE_STRING, "reset", "reason", G_TYPE_STRING,
                                        reason, "index", G_TYPE_UINT64, index_, nullptr)));
  }
  session_->reset();
  finished_ = false;
  for (const PairInfo &info : in_flight_) output_.settle(info.ticket);
  in_flight_.clear();
  index_at_start_ = index_;
}

void Comparer::restart_output() {
  restart_ = true;
  inbox_.stop(GST_FLOW_OK);
}

void Comparer::start_anew() {
  for (const Side side : {Side::ref, Side::dist})
    if (inbox_.restarted(side)) aligner_.restart(side);
  pair_.reset();
  begin_anew("flush");
  output_.clear();
  over_ = hurry_ = flushed_ = false;
}

// ---- endings -----------------------------------------------------------------------------------

void Comparer::end_of_streams() {
  if (!drain()) return;
  if (distances_.finish()) say_not_simultaneous();
  const GstFlowReturn flow = output_.release(restart_);
  leave(flow == GST_FLOW_OK ? GST_FLOW_EOS : flow);
}

// Nothing can be pushed any more.
void Comparer::leave(GstFlowReturn flow) {
  if (restart_) return;  // this very thread has flushed (a seek from a handler): the next turn starts anew
  gst_pad_pause_task(src_pad_);
  // Who flushes our pad starts the task again; nobody does if downstream alone was stopped.
  if (flow == GST_FLOW_FLUSHING && GST_PAD_IS_FLUSHING(src_pad_)) return;
  if (flow == GST_FLOW_EOS && !gst_pad_is_linked(src_pad_)) flow = GST_FLOW_NOT_LINKED;
  over_ = true;
  // Our own word comes first: as soon as the inbox is stopped, sources complain of the consequences.
  switch (flow) {
    case GST_FLOW_EOS:  // the end of both streams, or downstream has had enough: what was compared counts
      if (drain()) {
        post(report_.pooled(*session_, pool_method_));
        pooled_ = true;
      }
      inbox_.stop(flow);
      output_.push_eos();
      break;
    case GST_FLOW_NOT_LINKED:
      GST_ELEMENT_ERROR(element_, STREAM, FAILED,
                        ("The src pad of vmafhip is not linked: add \"! fakesink\" behind it"), (nullptr));
      break;
    case GST_FLOW_NOT_NEGOTIATED:
      GST_ELEMENT_ERROR(
          element_, STREAM, FORMAT,
          ("The element behind vmafhip does not take the format of %s; put a videoconvert there",
           GST_PAD_NAME(pad(settings_.output))),
          (nullptr));
      break;
    default:
      break;
  }
  inbox_.stop(flow);
}

void Comparer::fail(const Status &status) {
  const char *text = status.message().c_str();
  switch (status.code()) {
    case Code::not_found:
      GST_ELEMENT_ERROR(element_, RESOURCE, NOT_FOUND, ("%s", text), (nullptr));
      break;
    case Code::unsupported:
      GST_ELEMENT_ERROR(element_, STREAM, FORMAT, ("%s", text), (nullptr));
      break;
    case Code::io:
      GST_ELEMENT_ERROR(element_, RESOURCE, READ, ("%s", text), (nullptr));
      break;
    case Code::resource:
      GST_ELEMENT_ERROR(element_, RESOURCE, NO_SPACE_LEFT, ("%s", text), (nullptr));
      break;
    default:
      GST_ELEMENT_ERROR(element_, LIBRARY, SETTINGS, ("%s", text), (nullptr));
      break;
  }
}

void Comparer::say_not_simultaneous() {
  GST_ELEMENT_WARNING(element_, STREAM, FAILED, ("Reference and distorted frames are not simultaneous"),
                      ("More than 5 %% of the pairs lie over 2 ms apart after a constant offset is taken "
                       "out, as with 30 against 25 "
                       "frames/s. The frames' distance is in each message; use one frame rate for scores "
                       "that mean something."));
}

void Comparer::post(StructurePtr structure) {
  gst_element_post_message(element_, gst_message_new_element(GST_OBJECT(element_), structure.release()));
}

}  // namespace vmafhip
