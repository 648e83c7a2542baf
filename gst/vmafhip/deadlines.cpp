#include "gst/vmafhip/deadlines.h"

#include <algorithm>
#include <mutex>

#include "gst/vmafhip/inbox.h"

namespace vmafhip {
namespace {

constexpr GstClockTime kUsualFrame = 40 * GST_MSECOND, kEngineTime = 40 * GST_MSECOND;

}  // namespace

struct Deadlines::Bell {
  std::mutex mutex;
  Inbox *inbox;

  static gboolean ring(GstClock *, GstClockTime, GstClockID, gpointer self) {
    Bell &bell = **static_cast<std::shared_ptr<Bell> *>(self);
    std::lock_guard lock(bell.mutex);
    if (bell.inbox) bell.inbox->wake();
    return TRUE;
  }
  static void forget(gpointer self) { delete static_cast<std::shared_ptr<Bell> *>(self); }
};

Deadlines::Deadlines(GstElement *element, Inbox &inbox)
    : element_(element), bell_(std::make_shared<Bell>()), frame_duration_(kUsualFrame) {
  bell_->inbox = &inbox;
}

Deadlines::~Deadlines() {
  cancel();
  std::lock_guard lock(bell_->mutex);
  bell_->inbox = nullptr;
}

void Deadlines::start(const Settings &settings, int frames_awaited) {
  frame_duration_ = kUsualFrame;
  max_score_delay_ = settings.max_score_delay;
  frames_awaited_ = settings.attach_meta ? frames_awaited : 0;
}

void Deadlines::stop() {
  cancel();
  frames_awaited_ = 0;
  for (Upstream &u : upstream_) u.live = false, u.least = 0;
}

void Deadlines::set_upstream(Side side, bool live, GstClockTime least) {
  Upstream &u = upstream_[size_t(side)];
  u.least = live ? least : 0;
  u.live = live;
}

bool Deadlines::set_frame_duration(GstClockTime duration) {
  const GstClockTime before = latency();
  frame_duration_ = duration;
  return latency() != before;
}

GstClockTime Deadlines::latency() const {
  const int frames = frames_awaited_;
  if (frames == 0) return 0;
  const gint64 most = max_score_delay_;
  return most >= 0 ? GstClockTime(most) : GstClockTime(frames) * frame_duration_ + kEngineTime;
}

GstClockTime Deadlines::upstream_latency() const { return std::max(upstream_[0].least, upstream_[1].least); }

bool Deadlines::look() {
  clock_.reset(live() && playing_ ? gst_element_get_clock(element_) : nullptr);
  if (!clock_) return false;
  base_ = gst_element_get_base_time(element_);
  now_ = gst_clock_get_time(clock_.get());
  return GST_CLOCK_TIME_IS_VALID(base_);
}

GstClockTime Deadlines::time_of(gint64 running_time) const {
  static constexpr GstClockTime kMost = G_MAXINT64 / 4;  // as running times
  const GstClockTime wait = std::min(upstream_latency(), kMost) + std::min(latency(), kMost);
  return GstClockTime(std::max<gint64>(gint64(base_) + running_time + gint64(wait), 0));
}

// The system clock rings up to 100 ns early, and only once.
bool Deadlines::due(gint64 running_time) const { return now_ + GST_USECOND >= time_of(running_time); }

void Deadlines::wake_at(gint64 running_time) {
  const GstClockTime time = time_of(running_time);
  if (id_ && time == set_for_ && gst_clock_id_uses_clock(id_, clock_.get())) return;
  cancel();
  set_for_ = time;
  id_ = gst_clock_new_single_shot_id(clock_.get(), time);
  gst_clock_id_wait_async(id_, Bell::ring, new std::shared_ptr<Bell>(bell_), Bell::forget);
}

void Deadlines::cancel() {
  if (!id_) return;
  gst_clock_id_unschedule(id_);
  gst_clock_id_unref(id_);
  id_ = nullptr;
}

}  // namespace vmafhip
