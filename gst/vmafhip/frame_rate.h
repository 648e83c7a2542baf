// How many frames a second went by over the last seconds, by a clock. Constant memory. Pure C++.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

namespace vmafhip {

class FrameRate {
 public:
  // A frame at `now` (ns of a clock that does not run backwards).
  void add(int64_t now) {
    advance(now);
    ++slots_[size_t(slot_ % kSlots)];
  }

  // Frames a second over the last five seconds, or over the time since the first frame if that is shorter; none until
  // half a second has passed since then.
  std::optional<double> per_second(int64_t now) const {
    if (!first_) return {};
    FrameRate then = *this;
    then.advance(now);
    // The slot that has only begun is left out, together with its time.
    const int64_t from = std::max(*first_, (then.slot_ - (kSlots - 1)) * kSlot);
    const int64_t time = then.slot_ * kSlot - from;
    if (time < kSlot * 2) return {};
    uint64_t frames = 0;
    for (int64_t s = then.slot_ - (kSlots - 1); s < then.slot_; ++s)
      frames += s >= 0 ? then.slots_[size_t(s % kSlots)] : 0;
    return double(frames) * 1e9 / double(time);
  }

 private:
  static constexpr int64_t kSlot = 250'000'000, kSlots = 21;

  void advance(int64_t now) {
    const int64_t slot = now / kSlot;
    if (!first_) {
      first_ = now;
      slot_ = slot;
    }
    for (int64_t s = std::max(slot_ + 1, slot - kSlots + 1); s <= slot; ++s) slots_[size_t(s % kSlots)] = 0;
    slot_ = std::max(slot_, slot);
  }

  std::array<uint32_t, size_t(kSlots)> slots_ = {};
  int64_t slot_ = 0;  // the newest
  std::optional<int64_t> first_;
};

}  // namespace vmafhip
