#include "gst/vmafhip/comparer.h"

#include <cstdlib>
#include <utility>

GST_DEBUG_CATEGORY_EXTERN(vmafhip_pairing_debug);
#define GST_CAT_DEFAULT vmafhip_pairing_debug

namespace vmafhip {

Comparer::Comparer(GstElement *element, GstPad *ref, GstPad *dist, GstPad *src)
    : element_(element),
      ref_pad_(ref),
      dist_pad_(dist),
      src_pad_(src),
      output_(src, ref),
      measurement_(element, inbox_, output_) {}

// ---- life --------------------------------------------------------------------------------------

bool Comparer::start(const Settings &settings) {
  if (!measurement_.start(settings)) return false;
  settings_ = settings;
  output_ = Output(src_pad_, pad(settings.output));
  aligner_ = FrameAligner(settings.sync, settings.tolerance);
  gap_bytes_ = 0;
  hurry_ = over_ = flushed_ = restart_ = false;
  requests_ = 0;
  silent_.reset();
  // In the engine, in the inbox, two in the aligner and a pair that waits for room.
  frames_held_ = measurement_.max_in_flight() + int(Inbox::kBusyFrames) + 2 + 1;
  // Its successors, for temporal features.
  frames_awaited_ = settings.attach_meta ? measurement_.lookahead() + 1 : 0;
  inbox_.start({settings.sync_window, settings.max_queue_bytes});
  return true;
}

void Comparer::stop() {
  frames_held_ = frames_awaited_ = 0;
  output_.clear();
  pair_.reset();
  aligner_ = FrameAligner();
  measurement_.stop();
  inbox_.start({});
}

GstClockTime Comparer::latency() const {
  const int frames = frames_awaited_;
  if (frames == 0) return 0;
  return GstClockTime(frames) * frame_duration_ + 40 * GST_MSECOND;  // and the time the engine takes
}

// ---- one turn ----------------------------------------------------------------------------------

bool Comparer::start_task() {
  const auto turn = [](gpointer self) { static_cast<Comparer *>(self)->iterate(); };
  return gst_pad_start_task(src_pad_, turn, this, nullptr);
}

void Comparer::iterate() {
  inbox_.wait_while_held();
  if (inbox_.interrupted()) {
    gst_pad_pause_task(src_pad_);
    return;
  }
  if (restart_.exchange(false)) start_anew();
  if (!serve_requests()) return;
  if (over_) {
    inbox_.wait(std::nullopt);  // for a flush, a request or the stop
    return;
  }
  measurement_.collect();
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
    if (!measurement_.drain()) return;
    measurement_.begin_anew("flush");
    flushed_ = false;
  }
  const bool hurry = std::exchange(hurry_, false);
  FrameAligner::Decision decision = aligner_.step(hurry);
  if (hurry) measurement_.let_go();
  switch (decision.step) {
    case FrameAligner::Step::need_ref:
      return fetch(Side::ref);
    case FrameAligner::Step::need_dist:
      return fetch(Side::dist);
    case FrameAligner::Step::drop_ref:
      return unmatched(Side::ref, *decision.ref);
    case FrameAligner::Step::drop_dist:
      return unmatched(Side::dist, *decision.dist);
    case FrameAligner::Step::end:
      return end_of_streams();
    case FrameAligner::Step::pair:
      pair_ = FramePair{std::move(*decision.ref), std::move(*decision.dist)};
      return;
  }
}

void Comparer::request(Request request) {
  requests_ |= request;
  inbox_.wake();
}

bool Comparer::serve_requests() {
  if (requests_ & kPostPooled) {
    requests_ &= ~kPostPooled;
    measurement_.post_pooled();
  }
  if (requests_ & kReset) {
    if (!measurement_.drain()) return false;
    requests_ &= ~kReset;
    measurement_.begin_anew("action", true);
  }
  return true;
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
  measurement_.report().count([&](Counters &c) { ++(side == Side::ref ? c.ref_frames : c.dist_frames); });
  QueuedFrame queued{std::move(item.buffer), std::move(item.stream), 0, item.bytes, item.timed};
  if (side == settings_.output) {
    queued.ticket = output_.hold(queued.buffer, queued.stream);
    // Nothing will be attached, so nothing needs to wait.
    if (!settings_.attach_meta) output_.settle(queued.ticket);
  }
  aligner_.push(side, {std::move(queued), item.time});
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

void Comparer::unmatched(Side side, const FrameAligner::Frame &frame) {
  measurement_.report().count(
      [&](Counters &c) { ++(side == Side::ref ? c.ref_unmatched : c.dist_unmatched); });
  GST_LOG_OBJECT(element_, "%s frame at %" GST_STIME_FORMAT " has no partner", GST_PAD_NAME(pad(side)),
                 GST_STIME_ARGS(frame.time));
  if (aligner_.ended(other(side))) measurement_.drain();  // the last pair was the last
  if (side == Side::ref) measurement_.passed_over(frame);
  if (side != settings_.output) return;
  output_.settle(frame.data.ticket);
  // The last pair may need a successor for its score, and all output waits behind it: not longer than frames may
  // wait for each other.
  gap_bytes_ += frame.data.bytes;
  if (gap_bytes_ > settings_.max_queue_bytes ||
      guint64(std::abs(frame.time - measurement_.last_time())) >= settings_.sync_window)
    measurement_.let_go();
}

void Comparer::submit_pair() {
  switch (measurement_.submit(pair_)) {
    case Measurement::Submitted::done:
      gap_bytes_ = 0;
      return;
    case Measurement::Submitted::no_room:
      return idle(std::nullopt);
    case Measurement::Submitted::interrupted:
      return;
    case Measurement::Submitted::failed:
      return leave(GST_FLOW_ERROR);
  }
}

void Comparer::restart_output() {
  restart_ = true;
  inbox_.stop(GST_FLOW_OK);
}

void Comparer::start_anew() {
  for (const Side side : {Side::ref, Side::dist})
    if (inbox_.restarted(side)) aligner_.restart(side);
  pair_.reset();
  measurement_.begin_anew("flush");
  output_.clear();
  over_ = hurry_ = flushed_ = false;
}

// ---- endings -----------------------------------------------------------------------------------

void Comparer::end_of_streams() {
  if (!measurement_.drain()) return;
  const GstFlowReturn flow = output_.release(restart_);
  leave(flow == GST_FLOW_OK ? GST_FLOW_EOS : flow);
}

// Nothing can be pushed any more.
void Comparer::leave(GstFlowReturn flow) {
  if (restart_) return;  // this very thread has flushed (a seek from a handler): the next turn starts anew
  // Who flushes our pad starts the task again; nobody does if downstream alone was stopped.
  if (flow == GST_FLOW_FLUSHING && GST_PAD_IS_FLUSHING(src_pad_)) {
    gst_pad_pause_task(src_pad_);
    return;
  }
  if (flow == GST_FLOW_EOS && !gst_pad_is_linked(src_pad_)) flow = GST_FLOW_NOT_LINKED;
  over_ = true;
  // Our own word comes first: as soon as the inbox is stopped, sources complain of the consequences.
  switch (flow) {
    case GST_FLOW_EOS:  // the end of both streams, or downstream has had enough: what was compared counts
      measurement_.end();
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

}  // namespace vmafhip
