#include "gst/vmafhip/pairing.h"

#include <algorithm>
#include <utility>

namespace vmafhip {
namespace {

// Further apart than this no streams are searched: the search's effort and memory grow with the window.
constexpr guint64 kMostWindow = 60 * GST_SECOND;

content::Luma luma_of(const Picture &picture) {
  const Plane &plane = picture.planes[0];
  return {plane.data, plane.stride, plane.width, plane.height, picture.format.depth, picture.shift};
}

}  // namespace

Status Pairing::check(const Settings &settings) {
  if (settings.sync != SyncMode::content) return Status();
  if (settings.sync_window == 0)
    return Status(Code::invalid_argument,
                  "sync=content has nothing to search with sync-window=0: set the largest offset that there "
                  "may be, in ns, or choose sync=timestamp");
  if (settings.sync_window > kMostWindow)
    return Status(Code::invalid_argument, "sync=content searches 60 s at most: lower sync-window");
  return Status();
}

void Pairing::start(const Settings &settings) {
  signers_ = {};
  content_.reset();
  if (settings.sync == SyncMode::content)
    content_.emplace(gint64(settings.sync_window), settings.max_queue_bytes, settings.tolerance);
  aligner_ = FrameAligner(settings.sync, settings.tolerance);
}

Status Pairing::push(Side side, FrameAligner::Frame frame) {
  if (!content_) {
    aligner_.push(side, std::move(frame));
    return Status();
  }
  const auto picture = reader_.look_at(frame.data);
  if (!picture.ok())
    return Status(picture.status().code(),
                  (side == Side::ref ? "ref_sink: " : "dist_sink: ") + picture.status().message());
  content::Signature signature;
  signers_[size_t(side)].sign(luma_of(*picture), double(frame.time) / GST_SECOND, signature);
  const gsize bytes = frame.data.bytes;
  content_->push(side, std::move(frame), bytes, signature);
  return Status();
}

void Pairing::end(Side side) { content_ ? content_->end(side) : aligner_.end(side); }
bool Pairing::ended(Side side) const { return content_ ? content_->ended(side) : aligner_.ended(side); }
bool Pairing::exhausted(Side side) const {
  return content_ ? content_->exhausted(side) : aligner_.ended(side);
}
void Pairing::reopen(Side side) { content_ ? content_->reopen(side) : aligner_.reopen(side); }
void Pairing::restart(Side side) {
  signers_[size_t(side)] = content::Signer();
  content_ ? content_->restart(side) : aligner_.restart(side);
}
void Pairing::advance(Side side, gint64 time) {
  content_ ? content_->advance(side, time) : aligner_.advance(side, time);
}
gint64 Pairing::interval(Side side) const {
  return content_ ? content_->interval(side) : aligner_.interval(side);
}
FrameAligner::Decision Pairing::step(bool hurry) {
  return content_ ? content_->step(hurry) : aligner_.step(hurry);
}

}  // namespace vmafhip
