#include "gst/vmafhip/comparer.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "gst/vmafhip/errors.h"
#include "gst/vmafhip/log.h"
#include "gst/vmafhip/upstream.h"

#define GST_CAT_DEFAULT vmafhip_pairing_debug

namespace vmafhip {
namespace {

constexpr int kMostFramesHeld = 16;

}  // namespace

Comparer::Comparer(GstElement *element, GstPad *ref, GstPad *dist, GstPad *src)
    : element_(element),
      ref_pad_(ref),
      dist_pad_(dist),
      src_pad_(src),
      output_(src, ref),
      sharing_(element),
      reader_(element),
      measurement_(element, inbox_, output_, reader_, sharing_),
      deadlines_(element, inbox_),
      fences_([this] { inbox_.wake(); }),
      pairing_(reader_) {}

// ---- life --------------------------------------------------------------------------------------

bool Comparer::start(const Settings &settings) {
  if (const Status possible = Pairing::check(settings); !possible.ok()) {
    post_error(element_, possible);
    return false;
  }
  if (!measurement_.start(settings)) return false;
  settings_ = settings;
  output_ = Output(src_pad_, pad(settings.output));
  pairing_.start(settings);
  forget_frames();
  requests_ = 0;
  over_ = restart_ = far_apart_said_ = narrow_said_ = unwritten_said_ = false;
  pace_ = FrameInterval();
  silent_.reset();
  copied_ = 0;
  newest_ = 0;
  // In the engine, the pair that is next, its successor, and one that the source fills meanwhile. A GPU may take more at
  // a time once it knows their size, and many processors do at any: but sources such as cameras have 32 buffers at most,
  // some of which they need themselves.
  frames_held_ = std::min(measurement_.max_in_flight() + 3, kMostFramesHeld);
  // Its successors, for temporal features, and one that may have to come before a pair is one.
  deadlines_.start(settings, measurement_.lookahead() + 1);
  inbox_.start({settings.sync_window, settings.max_queue_bytes, frames_held_, !settings.attach_meta},
               settings.output);
  return true;
}

void Comparer::stop() {
  frames_held_ = 0;
  deadlines_.stop();
  measurement_.stop();  // scores what is in flight, whose frames are still held: none of them is late
  output_.clear();
  forget_frames();
  pairing_.start({});
  inbox_.start({});
}

// All that was waiting is void.
void Comparer::forget_frames() {
  arrival_.reset();
  pair_.reset();
  fences_.stop();
  chosen_ = waited_ = false;
  thinning_.restart();
  on_screen_.clear();
  tickets_.clear();
  times_ = {};
  paused_ = {};
  gap_bytes_ = 0;
  hurry_ = flushed_ = false;
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
  if (!measurement_.collect()) return leave(GST_FLOW_ERROR);
  admit();
  if (const GstFlowReturn flow = let_out(); flow != GST_FLOW_OK) return leave(flow);
  if (restart_) return;
  if (pair_) return submit_pair();
  follow_flushes_and_ends();
  if (flushed_) {
    if (!measurement_.drain()) return;
    measurement_.begin_anew("flush");
    flushed_ = false;
  }
  if (arrival_) return push_arrival();
  const bool hurry = std::exchange(hurry_, false);
  FrameAligner::Decision decision = pairing_.step(hurry);
  if (settings_.sync == SyncMode::content) say_sync();
  switch (decision.step) {
    case FrameAligner::Step::need_ref:
      return fetch(Side::ref);
    case FrameAligner::Step::need_dist:
      return fetch(Side::dist);
    case FrameAligner::Step::drop_ref:
      return unmatched(Side::ref, std::move(*decision.ref));
    case FrameAligner::Step::drop_dist:
      return unmatched(Side::dist, std::move(*decision.dist));
    case FrameAligner::Step::end:
      return inbox_.open(Side::ref) || inbox_.open(Side::dist) ? end_of_segments() : end_of_streams();
    case FrameAligner::Step::pair:
      if (settings_.on_missing == OnMissing::repeat) on_screen_.show(*decision.dist);
      pair_ = FramePair{std::move(*decision.ref), std::move(*decision.dist), pairing_.by_time()};
      return;
  }
}

void Comparer::set_playing(bool playing) {
  deadlines_.set_playing(playing);
  inbox_.wake();
}

void Comparer::request(Request request) {
  requests_ |= request;
  inbox_.wake();
}

bool Comparer::serve_requests() {
  if (requests_ & kPostPooled) {
    if (!measurement_.await_scores()) return false;
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

void Comparer::admit() {
  const bool timely = deadlines_.look();
  Item item;
  while (inbox_.show(item)) {
    if (item.event) output_.hold(std::move(item.event), std::move(item.stream));
    if (!item.buffer) continue;
    const gint64 time = item.timed ? item.time : timely ? deadlines_.arrival() : 0;
    const bool itself = item.itself != nullptr;
    tickets_.push_back(
        output_.hold(std::move(itself ? item.itself : item.buffer), std::move(item.stream), time));
    // Nothing will be attached, so nothing needs to wait.
    if (!settings_.attach_meta) output_.settle(tickets_.back());
    // Its source may be out of buffers. Live, none waits for long.
    if (itself && !timely) output_.settle_up_to(tickets_.back());
    if (!item.timed) continue;
    newest_ = time;
    pace_.add(time);
    // Caps may lie, or say nothing.
    const auto interval = GstClockTime(pace_.median());
    if (timely && interval - interval / 11 > deadlines_.frame_duration() &&
        deadlines_.set_frame_duration(interval))
      gst_element_post_message(element_, gst_message_new_latency(GST_OBJECT(element_)));
  }
  if (const guint64 copied = inbox_.copied(); copied != copied_) {
    copied_ = copied;
    measurement_.report().count([&](Counters &c) { c.held_copied = copied; });
  }
}

// What may leave, and live what must.
GstFlowReturn Comparer::let_out() {
  for (;;) {
    if (const GstFlowReturn flow = output_.release(restart_); flow != GST_FLOW_OK) return flow;
    const auto awaited = output_.awaited();
    if (!awaited || !deadlines_.look()) {
      deadlines_.cancel();
      return GST_FLOW_OK;
    }
    if (!deadlines_.due(awaited->time)) {
      deadlines_.wake_at(awaited->time);
      return GST_FLOW_OK;
    }
    output_.settle(awaited->ticket);
  }
}

void Comparer::follow_flushes_and_ends() {
  for (const Side side : {Side::ref, Side::dist}) {
    bool &paused = paused_[size_t(side)];
    if (inbox_.restarted(side)) {
      pairing_.restart(side);
      times_[size_t(side)].reset();
      if (arrival_ && arrival_->side == side) arrival_.reset();
      if (side == Side::dist) on_screen_.clear();
      paused = false;
      flushed_ = true;
    }
    // It may go on after its end. After a segment's end the other stream has to reach its own first.
    if (inbox_.open(side) && !paused) pairing_.reopen(side);
  }
}

void Comparer::fetch(Side side) {
  Item item;
  switch (inbox_.take(side, item)) {
    case Inbox::Taken::item:
      return accept(side, std::move(item));
    case Inbox::Taken::ended:
      return pairing_.end(side);
    case Inbox::Taken::nothing:
      return idle(side);
  }
}

void Comparer::accept(Side side, Item item) {
  if (item.reached) pairing_.advance(side, *item.reached);
  if (item.segment_done) {
    pairing_.end(side);
    paused_[size_t(side)] = true;
  }
  if (!item.buffer) return;
  if (!item.timed && settings_.sync != SyncMode::order) {
    post_untimed(element_, pad(side), item.stream->segment, settings_.sync);
    return leave(GST_FLOW_ERROR);
  }
  if (silent_ == side) silent_.reset();
  measurement_.report().count([&](Counters &c) { ++(side == Side::ref ? c.ref_frames : c.dist_frames); });
  QueuedFrame queued{std::move(item.buffer), std::move(item.stream), Output::kNoTicket, item.bytes,
                     item.timed};
  if (side == settings_.output) {
    queued.ticket = tickets_.front();
    tickets_.pop_front();
  }
  if (item.timed) times_[size_t(side)] = item.time;
  arrival_ = Arrival{side, {std::move(queued), item.time}};
  push_arrival();
}

void Comparer::push_arrival() {
  const Side side = arrival_->side;
  GstBuffer *const one[] = {arrival_->frame.data.buffer.get()};
  const bool unwritten = pairing_.looks_at_pictures() && fences_.unwritten(one);
  if (unwritten && !is_pressed()) return wait_for_producer(side);
  FrameAligner::Frame frame = std::move(arrival_->frame);
  arrival_.reset();
  if (unwritten) return unmatched(side, std::move(frame));
  if (Status s = pairing_.push(side, std::move(frame)); !s.ok()) fail(s);
}

void Comparer::idle(std::optional<Side> needed, bool for_room) {
  if (!measurement_.wakes_at(for_room && !inbox_.live())) return;
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
      inbox_.set_independent(gst_pad_is_linked(pad(*needed)) && !have_common_source(ref_pad_, dist_pad_));
      return say_starving(*needed, false);
    case Inbox::Woken::starved:
      return say_starving(*needed, true);
  }
}

void Comparer::say_starving(Side needed, bool fatal) {
  const Side waiting = other(needed);
  const auto level = inbox_.level(waiting);
  post_starving(element_, {pad(needed), pad(waiting), level.frames, level.bytes, fatal}, settings_);
  if (fatal) leave(GST_FLOW_ERROR);
}

// sync=content: what is known of the offset, and that memory is too small to know or use it.
void Comparer::say_sync() {
  inbox_.set_kept_bytes(pairing_.bytes());
  while (const auto news = pairing_.news()) measurement_.tell(*news);
  if (pairing_.ran_out_of_room() && !std::exchange(narrow_said_, true))
    post_too_little_room(element_, settings_);
}

// What a viewer of the distorted stream sees at that time.
std::optional<FrameAligner::Frame> Comparer::on_screen(gint64 time) const {
  if (settings_.on_missing != OnMissing::repeat || settings_.sync != SyncMode::timestamp) return {};
  auto frame = on_screen_.at(time);
  if (!frame || !pairing_.ended(Side::dist)) return frame;
  const GstClockTime duration = GST_BUFFER_DURATION(frame->data.buffer.get());
  const double rate = std::abs(frame->data.stream->segment.rate);
  return on_screen_.at(time, GST_CLOCK_TIME_IS_VALID(duration)
                                 ? gint64(std::min(double(duration) / rate, double(G_MAXINT64 / 2)))
                                 : pairing_.interval(Side::dist));
}

void Comparer::unmatched(Side side, FrameAligner::Frame frame) {
  if (side == Side::dist) {
    if (settings_.on_missing == OnMissing::repeat) on_screen_.show(frame);
  } else if (auto seen = on_screen(frame.time)) {
    pair_ = FramePair{std::move(frame), std::move(*seen), false, true};
    return;
  }
  measurement_.report().count(
      [&](Counters &c) { ++(side == Side::ref ? c.ref_unmatched : c.dist_unmatched); });
  GST_LOG_OBJECT(element_, "%s frame at %" GST_STIME_FORMAT " has no partner", GST_PAD_NAME(pad(side)),
                 GST_STIME_ARGS(frame.time));
  const std::optional<gint64> partners = times_[size_t(other(side))];  // latest time
  if (settings_.sync == SyncMode::timestamp && partners && *partners > frame.time &&
      guint64(*partners - frame.time) > settings_.sync_window && !std::exchange(far_apart_said_, true))
    post_far_apart(element_, pad(side), frame.time, pad(other(side)), *partners);
  if (pairing_.exhausted(other(side))) measurement_.drain();  // the last pair was the last
  // One stream goes on with its next segment, the other knows of none.
  if (paused_[size_t(other(side))] && inbox_.level(other(side)).frames > 0 && partners &&
      frame.time - *partners > gint64(settings_.sync_window))
    paused_[size_t(other(side))] = false;
  if (side == Side::ref) measurement_.passed_over(frame);
  if (side != settings_.output) return;
  output_.settle(frame.data.ticket);
  // The last pair may need a successor for its score, and all output waits behind it: not longer than frames may
  // wait for each other. Where there are deadlines, these see to it.
  gap_bytes_ += frame.data.bytes;
  if (!deadlines_.look() &&
      (gap_bytes_ > settings_.max_queue_bytes ||
       guint64(std::abs(frame.time - measurement_.last_time())) >= settings_.sync_window))
    measurement_.let_go();
}

void Comparer::submit_pair() {
  const bool live = inbox_.live();
  if (live && !chosen_ && thinning_.leave_out()) return leave_out_pair();
  chosen_ = true;
  GstBuffer *const both[] = {pair_->ref.data.buffer.get(), pair_->dist.data.buffer.get()};
  if (const auto which = fences_.unwritten(both))
    return is_pressed() ? leave_out_pair() : wait_for_producer(*which == 0 ? Side::ref : Side::dist);
  switch (measurement_.submit(pair_)) {
    case Measurement::Submitted::done:
      chosen_ = false;
      gap_bytes_ = 0;
      if (live)
        thinning_.scored(std::min(inbox_.level(Side::ref).frames, inbox_.level(Side::dist).frames),
                         most_waiting_pairs(), waited_);
      waited_ = false;
      return;
    case Measurement::Submitted::no_room:
      waited_ = true;
      return is_pressed() ? leave_out_pair() : idle(std::nullopt, true);
    case Measurement::Submitted::interrupted:
      return;
    case Measurement::Submitted::failed:
      return leave(GST_FLOW_ERROR);
  }
}

// A live source must not be stopped.
bool Comparer::is_pressed() const {
  return inbox_.live() && (inbox_.level(Side::ref).full || inbox_.level(Side::dist).full);
}

// The frame that is next is not written yet.
void Comparer::wait_for_producer(Side side) {
  const auto waited = fences_.waited();
  if (waited >= fences_.patience().fail) return fail(never_written(pad(side), waited));
  if (waited >= fences_.patience().warn && !std::exchange(unwritten_said_, true))
    post_unwritten(element_, pad(side), waited);
  idle(std::nullopt);
}

void Comparer::fail(const Status &status) {
  if (measurement_.fail(status) == Measurement::Submitted::failed) leave(GST_FLOW_ERROR);
}

void Comparer::leave_out_pair() {
  const gint64 time = settings_.output == Side::ref ? pair_->ref.time : pair_->dist.time;
  measurement_.leave_out(*pair_, std::max<gint64>(newest_ - time, 0));
  measurement_.passed_over(pair_->ref);
  pair_.reset();
  chosen_ = waited_ = false;
}

// Before some are left out: those of half a second.
size_t Comparer::most_waiting_pairs() const {
  static constexpr gint64 kMostLag = 500 * GST_MSECOND;
  const gint64 interval = std::max(pairing_.interval(Side::ref), pairing_.interval(Side::dist));
  return std::max<size_t>(4, interval > 0 ? size_t(kMostLag / interval) : 0);
}

void Comparer::restart_output() {
  restart_ = true;
  inbox_.stop(GST_FLOW_OK);
}

void Comparer::start_anew() {
  for (const Side side : {Side::ref, Side::dist})
    if (inbox_.restarted(side)) pairing_.restart(side);
  measurement_.begin_anew("flush");
  output_.clear();
  forget_frames();
  over_ = false;
}

// ---- endings -----------------------------------------------------------------------------------

// Both have done a segment: the last frames are scored, whether or not the next segment is there already, and what
// comes behind them may be passed on.
void Comparer::end_of_segments() {
  if (!measurement_.drain()) return;
  if (const GstFlowReturn flow = let_out(); flow != GST_FLOW_OK) return leave(flow);
  if (inbox_.level(Side::ref).frames > 0 || inbox_.level(Side::dist).frames > 0)
    paused_ = {};
  else
    inbox_.wait_for_frames();
}

void Comparer::end_of_streams() {
  if (!measurement_.drain()) return;
  Counters counters;
  measurement_.report().count([&](const Counters &c) { counters = c; });
  if (counters.compared + counters.skipped_overload == 0 && !far_apart_said_ && !narrow_said_)
    post_nothing_compared(element_, counters.ref_frames, counters.dist_frames, settings_);
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
      post_unlinked_src(element_);
      break;
    case GST_FLOW_NOT_NEGOTIATED:
      post_refused_format(element_, pad(settings_.output));
      break;
    default:
      break;
  }
  inbox_.stop(flow);
}

}  // namespace vmafhip
