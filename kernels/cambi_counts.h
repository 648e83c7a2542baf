// Of banding: the c-values of a strip of columns.
//
// Each thread of a warp has a column, and counts for each code that matters how many kept pixels of it the window around
// that column holds. When the window moves down by a row, the warp goes through the runs of equal pixels that enter and
// leave, and each thread adds how far a run lies in its window. Counts of all codes would leave room for few warps, so a
// warp does a share of the codes; from where on, depends on the darkest code that its strip has.
#pragma once
#include "kernels/cambi_args.h"
#include "kernels/device.h"

namespace vmafhip {

// Columns are scanned kScans to a thread. For any number of contrasts if kContrasts is 0.
template <int kScans, int kContrasts>
class CambiWalk {
 public:
#if defined(GPU_SIMULATED)
  static constexpr int kMostLanes = 64, kCounts = cambi_counted_codes(64) * 64;
#else
  static constexpr int kMostLanes = gpu_warp_size(),
                       kCounts = cambi_counted_codes(gpu_warp_size()) * gpu_warp_size();
#endif
  static_assert(kCounts >= cambi_counted_codes(32) * 32);
  struct Shared {
    uint16_t counts[kCounts];  // of a code, a column a thread
    // Words of the rows that come and go, 0 where nothing changes, and a 0 before. Two of each, so that one can be
    // filled while slower threads are still reading the other.
    uint16_t entering[2][kScans * kMostLanes + 1], leaving[2][kScans * kMostLanes + 1];
  };

  GPU_FN CambiWalk(const CambiCountArgs &args, Shared *shared)
      : args_(args), shared_(shared), lane_(gpu_lane()), lanes_(gpu_warp_size()) {}

  GPU_FN void run() {
    int s = 0;
    const int block = static_cast<int>(blockIdx.x);
    while (s + 1 < kCambiScales && block >= args_.scales[s + 1].first_block) s++;
    const CambiCountArgs::Scale &scale = args_.scales[s];
    const CambiCountArgs::Picture &picture = args_.pictures[blockIdx.z];
    width_ = scale.width;
    height_ = scale.height;
    stride_ = scale.stride;
    plane_ = picture.planes + scale.plane_at;
    values_ = picture.values + scale.values_at;
    const int of_scale = block - scale.first_block;
    x_ = of_scale % scale.strips * lanes_ + lane_;
    first_ = of_scale / scale.strips * scale.rows;
    last_ = smaller(first_ + scale.rows, height_);
    if (choose_codes()) walk();
  }

 private:
  struct Row {
    uint32_t words[kScans];
  };

  GPU_FN int contrasts() const { return kContrasts ? kContrasts : args_.contrasts; }

  // The block's share of the codes; false if the strip has none.
  GPU_FN bool choose_codes() {
    const uint32_t lowest = static_cast<uint32_t>(args_.codes.first) | kCambiKept;
    const uint32_t range = static_cast<uint32_t>(args_.brightest - args_.codes.first);
    uint32_t darkest = 0xffff, brightest = 0;
    if (x_ < width_)
#pragma unroll 8
      for (int y = first_; y < last_; y++) {
        const uint32_t word = (plane_ + (int64_t{y} * stride_ + x_)).get()[0];
        if (word - lowest > range) continue;
        darkest = smaller(darkest, word);
        brightest = larger(brightest, word);
      }
    for (int d = lanes_ / 2; d > 0; d /= 2) {
      darkest = smaller(darkest, gpu_shuffle_xor(darkest, d));
      brightest = larger(brightest, gpu_shuffle_xor(brightest, d));
    }
    own_first_ = darkest + blockIdx.y * static_cast<uint32_t>(args_.share);
    if (own_first_ > brightest) return false;
    own_range_ = smaller(brightest - own_first_, static_cast<uint32_t>(args_.share) - 1);
    const uint32_t reach = static_cast<uint32_t>(contrasts());
    base_ = own_first_ - reach;
    counted_first_ = larger(lowest, base_);
    const uint32_t highest = static_cast<uint32_t>(args_.codes.last) | kCambiKept;
    counted_range_ = smaller(highest, own_first_ + own_range_ + reach) - counted_first_;
    return true;
  }

  GPU_FN void walk() {
    const int codes = static_cast<int>(own_range_) + 1 + 2 * contrasts();
    for (int row = 0; row < codes; row++) *counts_of(row) = 0;
    if (lane_ < 2) shared_->entering[lane_][0] = shared_->leaving[lane_][0] = 0;
    Row enters, leaves;
    uint32_t own;
    int turn = 0;
    const int begin = first_ - 2 * args_.reach;
    fetch(begin, &enters, &leaves, &own);
    for (int y = begin; y < last_; y++) {
      const Row in = enters, out = leaves;
      const uint32_t word = own;
      if (y + 1 < last_) fetch(y + 1, &enters, &leaves, &own);
      if (move(in, out, turn)) turn ^= 1;
      if (y >= first_ && word - own_first_ <= own_range_) measure(y, word);
    }
  }

  // What is needed at row y: the row that enters the window, the one that leaves it, the pixel itself.
  GPU_FN void fetch(int y, Row *enters, Row *leaves, uint32_t *own) const {
    const int in = y + args_.reach, out = y - args_.reach - 1;
    *enters = scan(in, in >= 0 && in < height_);
    *leaves = scan(out, y > first_ && out >= 0);
    *own = 0;
    if (y >= first_ && x_ < width_) *own = (plane_ + (int64_t{y} * stride_ + x_)).get()[0];
  }
  GPU_FN Row scan(int y, bool exists) const {
    Row row;
    const int x = x_ - args_.reach, end = smaller(width_, x_ - lane_ + lanes_ + args_.reach);
#pragma unroll
    for (int i = 0; i < kScans; i++) {
      const int column = x + i * lanes_;
      row.words[i] =
          exists && column >= 0 && column < end ? (plane_ + (int64_t{y} * stride_ + column)).get()[0] : 0;
    }
    return row;
  }

  GPU_FN uint32_t relevant(uint32_t word) const { return word - counted_first_ <= counted_range_ ? word : 0; }
  GPU_FN uint16_t *counts_of(int row) const { return shared_->counts + row * lanes_ + lane_; }

  // Whether the window has changed.
  GPU_FN bool move(const Row &in, const Row &out, int turn) {
    uint16_t *entering = shared_->entering[turn], *leaving = shared_->leaving[turn];
    bool changes = false;
    uint32_t a[kScans], b[kScans];
#pragma unroll
    for (int i = 0; i < kScans; i++) {
      a[i] = relevant(in.words[i]);
      b[i] = relevant(out.words[i]);
      const bool same = a[i] == b[i];
      changes |= !same;
      a[i] = same ? 0 : a[i];
      b[i] = same ? 0 : b[i];
    }
    if (!gpu_any(changes)) return false;
#pragma unroll
    for (int i = 0; i < kScans; i++) {
      entering[1 + i * lanes_ + lane_] = static_cast<uint16_t>(a[i]);
      leaving[1 + i * lanes_ + lane_] = static_cast<uint16_t>(b[i]);
    }
    gpu_sync();
    change_runs<true>(entering);
    change_runs<false>(leaving);
    return true;
  }

  template <bool kAdd>
  GPU_FN void change_runs(const uint16_t *words) {
    GpuLanes starts[kScans];
#pragma unroll
    for (int i = 0; i < kScans; i++) {
      const uint16_t *here = words + 1 + i * lanes_ + lane_;
      starts[i] = gpu_ballot(here[0] != here[-1]);
    }
    uint32_t word = 0;
    int begin = 0;
#pragma unroll
    for (int i = 0; i < kScans; i++)
      for (GpuLanes left = starts[i]; left; left &= left - 1) {
        const int end = i * lanes_ + gpu_first_lane(left);
        if (word) change<kAdd>(word, begin, end);
        word = words[1 + end];
        begin = end;
      }
    if (word) change<kAdd>(word, begin, kScans * lanes_);
  }

  // A run of scanned columns. The window around the thread's column begins at its own number.
  template <bool kAdd>
  GPU_FN void change(uint32_t word, int begin, int end) {
    const int pixels = smaller(end, lane_ + 2 * args_.reach + 1) - larger(begin, lane_);
    if (pixels <= 0) return;
    uint16_t *count = counts_of(static_cast<int>(word - base_));
    *count = static_cast<uint16_t>(kAdd ? *count + pixels : *count - pixels);
  }

  GPU_FN void measure(int y, uint32_t word) const {
    const int code = static_cast<int>(word - kCambiKept);
    const uint16_t *counts = counts_of(static_cast<int>(word - base_));
    const int own = counts[0];
    const float *reciprocals = args_.reciprocals.get(kCambiReciprocals);
    float most = 0;
#pragma unroll
    for (int d = 0; d < (kContrasts ? kContrasts : 1); d++)
      consider(code, own, d, counts, reciprocals, &most);
    if (kContrasts == 0)
      for (int d = 1; d < args_.contrasts; d++) consider(code, own, d, counts, reciprocals, &most);
    if (most > 0) (values_ + (int64_t{y} * width_ + x_)).get()[0] = most;
  }
  GPU_FN void consider(int code, int own, int d, const uint16_t *counts, const float *reciprocals,
                       float *most) const {
    if (code > args_.visible_up_to[d] || code + contrasts() + d + 1 <= args_.darkest) return;
    const int other = larger<int>(counts[(d + 1) * lanes_], counts[-(d + 1) * lanes_]);
    if (other > 0) *most = larger(*most, cambi_contrast(own, other, d, reciprocals));
  }

  const CambiCountArgs &args_;
  Shared *const shared_;
  const int lane_, lanes_;
  DeviceAddress<const uint16_t> plane_;
  DeviceAddress<float> values_;
  int width_, height_, stride_;
  int x_, first_, last_;                    // the thread's column, the block's rows
  uint32_t own_first_, own_range_;          // words that get c-values
  uint32_t counted_first_, counted_range_;  // words that are counted
  uint32_t base_;                           // the word whose counts come first
};

}  // namespace vmafhip
