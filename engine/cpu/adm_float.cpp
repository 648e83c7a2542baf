// Float ADM on the CPU: a strip of band rows of one scale. Row by row: wavelet, decoupling, weights, and, one row later,
// when the weights of the row below are known, the masked sums.
//
// Only the low bands that later scales read and three sums a row are kept, in the frame's memory; of everything else the
// last three rows. Detail bands are worked out where sums need them: in the region and one sample around it, which
// strips that meet do twice. What depends on the reference alone is done once for all distorted pictures.
#include <cstring>

#include "engine/arith/power.h"
#include "engine/cpu/adm_float.h"
#include "engine/cpu/adm_float_sums.h"
#include "engine/cpu/adm_float_wavelet.h"
#include "engine/cpu/arena.h"
#include "engine/cpu/floats.h"
#include "engine/cpu/kernels.h"

namespace vmafhip::VMAFHIP_ISA {
namespace {

constexpr int kRows = 3;  // of the neighbourhood of a masked sample
// What vectors may read and write beyond the end of a row, in floats: a pair of the widest and one more.
constexpr size_t kBeyond = 48;

// A row's floats in whole pairs of the widest vectors.
size_t padded(int count) { return (static_cast<size_t>(count) + 31) / 32 * 32; }

// ---- Memory -------------------------------------------------------------------------------------------------

// Low bands of scales 0 to 2: of the reference, then of each distorted picture.
struct LowBands {
  float *first;
  size_t stride, picture;  // floats from row to row, from picture to picture

  float *row(int image, int y) const {
    return first + picture * static_cast<size_t>(image) + stride * static_cast<size_t>(y);
  }
};

// Sums of each row of the region, of all scales one after the other.
struct RowSums {
  AdmFloatBands *den;        // of the reference
  AdmFloatBands *num, *aim;  // of each distorted picture
  size_t picture;            // rows from picture to picture
  size_t scale[kAdmScales];  // first row of a scale
};

struct FrameMemory {
  LowBands low[kAdmScales - 1];
  RowSums sums;

  FrameMemory(Arena *arena, const AdmFloatParams &params, int distorted) {
    const size_t pictures = static_cast<size_t>(distorted);
    sums.picture = 0;
    for (int s = 0; s < kAdmScales; s++) {
      const AdmFloatScaleParams &p = params.scale[s];
      sums.scale[s] = sums.picture;
      sums.picture += static_cast<size_t>(p.bottom - p.top);
      if (s + 1 == kAdmScales) continue;
      low[s].stride = padded(p.width);
      low[s].picture = low[s].stride * static_cast<size_t>(p.height);
      low[s].first = arena->take<float>(low[s].picture * (1 + pictures));
    }
    sums.den = arena->take<AdmFloatBands>(sums.picture);
    sums.num = arena->take<AdmFloatBands>(sums.picture * pictures);
    sums.aim = arena->take<AdmFloatBands>(sums.picture * pictures);
  }
};

// A row of a decoupled signal, from the column before the region on.
struct SignalRow {
  float *size[kAdmBands];       // |sample| times sensitivity
  float *neighbour[kAdmBands];  // its weight on neighbours, with one mirrored column on either side
};

struct Distorted {
  SignalRow restored[kRows], additive[kRows];
};

struct Scratch {
  AdmFloatColumns low, high;  // after the vertical filters
  float *ref[kAdmBands];      // a row of the reference's detail
  Distorted *dist;

  Scratch(Arena *arena, int width, int distorted) {
    const size_t half = padded((width + 1) / 2);
    for (AdmFloatColumns *row : {&low, &high}) {
      row->even = arena->take<float>(half, 0, kBeyond);
      row->odd = arena->take<float>(half, 1, kBeyond);
    }
    for (float *&row : ref) row = arena->take<float>(half, 0, kBeyond);
    dist = arena->take<Distorted>(static_cast<size_t>(distorted));
    for (int d = 0; d < distorted; d++) {
      Distorted unused;  // when bytes are counted, there is no array
      Distorted &to = dist ? dist[d] : unused;
      for (auto *signal : {&to.restored, &to.additive})
        for (SignalRow &row : *signal)
          for (int band = 0; band < kAdmBands; band++) {
            row.size[band] = arena->take<float>(half, 0, kBeyond);
            row.neighbour[band] = arena->take<float>(half, 1, kBeyond);
          }
    }
  }
};

// ---- Rows ---------------------------------------------------------------------------------------------------

// What is worked out differently.
template <bool cubes, bool gain_is_f32>
struct Kind {
  static constexpr bool kCubes = cubes, kGainIsF32 = gain_is_f32;
};

// Columns of a band.
struct Span {
  int first, count;
};

template <class K>
VMAFHIP_FLOATS_FN F32 power(F32 v, const AdmFloatParams &params) {
  if constexpr (K::kCubes)
    return adm_float_cube(v);
  else
    return real_power(v, params.exponent);
}

template <class K>
void den_row(float *const (&ref)[kAdmBands], int begin, int count, const AdmFloatParams &params,
             const AdmFloatScaleParams &p, AdmFloatBands *out) {
  AdmFloatBands sum = {};
  for (int i = 0; i < count; i += kFloats) {
    const auto term = [&](int band) __attribute__((always_inline)) {
      return power<K>(absolute(load_floats(ref[band] + begin + i) * p.sensitivity[band]), params);
    };
    sum = adm_float_add(sum, term(0), term(1), term(2), count - i);
  }
  store_vector(out, sum);
}

VMAFHIP_FLOATS_FN void put_signal(F32 sample, float sensitivity, const SignalRow &to, int band, int i) {
  const F32 size = absolute(sample * sensitivity);
  store_vector(to.size[band] + i, size);
  store_vector(to.neighbour[band] + i, adm_float_neighbour(size));
}

// Detail of a row of the distorted picture, taken apart.
template <class K>
void decouple_row(const float *const (&ref)[kAdmBands], const AdmFloatColumns &low,
                  const AdmFloatColumns &high, Span span, const AdmFloatParams &params,
                  const AdmFloatScaleParams &p, const SignalRow &restored, const SignalRow &additive) {
  for (int i = 0; i < span.count; i += kFloats) {
    const int j = span.first + i;
    const F32 r[kAdmBands] = {load_floats(ref[0] + i), load_floats(ref[1] + i), load_floats(ref[2] + i)};
    const F32 t[kAdmBands] = {adm_float_low_at(high, j), adm_float_high_at(low, j),
                              adm_float_high_at(high, j)};
    const auto same = adm_float_same_angle(r[0], r[1], t[0], t[1]);
#pragma GCC unroll 3
    for (int band = 0; band < kAdmBands; band++) {
      const F32 kept =
          adm_float_restore<K::kGainIsF32>(r[band], t[band], same, params.gain, params.options.gain_limit);
      put_signal(kept, p.sensitivity[band], restored, band, i);
      put_signal(t[band] - kept, p.sensitivity[band], additive, band, i);
    }
  }
}

// The rows above, here and below of a masker.
struct Masker {
  const SignalRow &above, &here, &below;

  VMAFHIP_FLOATS_FN F32 load(const float *at) { return load_floats(at); }

  [[gnu::always_inline]] F32 threshold(int i) const {
    F32 of_band[kAdmBands];
#pragma GCC unroll 3
    for (int band = 0; band < kAdmBands; band++) {
      const float *a = above.neighbour[band] + i, *h = here.neighbour[band] + i,
                  *b = below.neighbour[band] + i;
      of_band[band] =
          adm_float_threshold(load(a - 1), load(a), load(a + 1), load(h - 1), load(here.size[band] + i),
                              load(h + 1), load(b - 1), load(b), load(b + 1));
    }
    return (of_band[0] + of_band[1]) + of_band[2];
  }
};

// Adds what is left of a signal above a threshold, `count` columns from i on.
template <class K>
VMAFHIP_FLOATS_FN AdmFloatBands add_above(AdmFloatBands sum, const SignalRow &signal, int i, F32 threshold,
                                          int count, const AdmFloatParams &params) {
  const auto term = [&](int band) __attribute__((always_inline)) {
    return power<K>(maximum(load_floats(signal.size[band] + i) - threshold, F32{}), params);
  };
  return adm_float_add(sum, term(0), term(1), term(2), count);
}

// Sums of a row of either signal above the threshold that the other one sets, `count` columns from `begin` on. The two
// together, since a serial sum leaves the processor idle.
template <class K>
void masked_row(const Masker &restored, const Masker &additive, int begin, int count,
                const AdmFloatParams &params, AdmFloatBands *num, AdmFloatBands *aim) {
  const bool bypass = params.options.bypass_masking;
  AdmFloatBands num_sum = {}, aim_sum = {};
  for (int i = 0; i < count; i += kFloats) {
    const F32 on_restored = bypass ? F32{} : additive.threshold(begin + i),
              on_additive = bypass ? F32{} : restored.threshold(begin + i);
    num_sum = add_above<K>(num_sum, restored.here, begin + i, on_restored, count - i, params);
    aim_sum = add_above<K>(aim_sum, additive.here, begin + i, on_additive, count - i, params);
  }
  store_vector(num, num_sum);
  store_vector(aim, aim_sum);
}

// ---- Strips -------------------------------------------------------------------------------------------------

template <class K>
class Strip {
 public:
  Strip(const AdmFloatStrip &strip, const FrameMemory &memory, const Scratch &m)
      : frame_(strip.frame),
        params_(strip.params),
        p_(strip.params.scale[strip.scale]),
        scale_(strip.scale),
        memory_(memory),
        m_(m),
        distorted_(static_cast<int>(strip.frame.dist.size())),
        around_{larger(p_.left - 1, 0), smaller(p_.right + 1, p_.width) - larger(p_.left - 1, 0)} {}

  void run(int first, int last) {
    const bool skip = scale_ == 0 && params_.options.skip_scale0;
    // Rows that this strip pools, and the one above and below whose weights they need.
    const int pooled_first = larger(first, p_.top), pooled_last = smaller(last, p_.bottom);
    const bool pools = !skip && pooled_first < pooled_last;
    const int detail_first = pools ? larger(pooled_first - 1, 0) : last,
              detail_last = pools ? smaller(pooled_last + 1, p_.height) : last;
    const auto pooled = [&](int y) { return pools && y >= pooled_first && y < pooled_last; };
    for (int y = smaller(first, detail_first); y < larger(last, detail_last); y++) {
      const bool low = y >= first && y < last && scale_ + 1 < kAdmScales;
      const bool detail = y >= detail_first && y < detail_last;
      if (!low && !detail) continue;
      reference_row(y, low, detail);
      if (pooled(y)) den_row<K>(m_.ref, left(), columns(), params_, p_, memory_.sums.den + row_number(y));
      for (int d = 0; d < distorted_; d++) {
        filter_columns(1 + d, y, detail);
        if (low) low_row(1 + d, y);
        if (!detail) continue;
        decouple(m_.dist[d], y);
        // The row above now has all its neighbours; the last row of the band is its own neighbour below.
        if (pooled(y - 1)) add_masked(d, y - 1);
        if (pooled(y) && y + 1 == p_.height) add_masked(d, y);
      }
    }
  }

 private:
  // Of the region, in rows that begin with around_.first.
  int left() const { return p_.left - around_.first; }
  int columns() const { return p_.right - p_.left; }
  size_t row_number(int y) const { return memory_.sums.scale[scale_] + static_cast<size_t>(y - p_.top); }

  template <class Sample, class Row>
  void filter_rows(Row row, int y, int width, int height, float step, bool detail) const {
    const Sample *rows[4];
    for (int k = 0; k < 4; k++) rows[k] = row(adm_index(2 * y - 1 + k, height));
    adm_float_columns<Sample>(rows, width, step, detail, m_.low, m_.high);
  }

  // Vertical filters around band row y of picture `image`, 0 being the reference; high pass only if `detail`.
  void filter_columns(int image, int y, bool detail) const {
    if (scale_ > 0) {
      const AdmFloatScaleParams &finer = params_.scale[scale_ - 1];
      const LowBands &from = memory_.low[scale_ - 1];
      filter_rows<float>([&](int row) { return from.row(image, row); }, y, finer.width, finer.height, 1.0f,
                         detail);
      return;
    }
    const PlaneView &view = image == 0 ? frame_.ref[0] : frame_.dist[static_cast<size_t>(image - 1)][0];
    if (view.depth == 8)
      filter_rows<uint8_t>([&](int row) { return row_of<uint8_t>(view, row); }, y, params_.width,
                           params_.height, 1.0f, detail);
    else
      filter_rows<uint16_t>([&](int row) { return row_of<uint16_t>(view, row); }, y, params_.width,
                            params_.height, float_sample_step(view.depth), detail);
  }

  void low_row(int image, int y) const {
    float *to = memory_.low[scale_].row(image, y);
    for (int j = 0; j < p_.width; j += kFloats) store_vector(to + j, adm_float_low_at(m_.low, j));
  }

  void reference_row(int y, bool low, bool detail) const {
    filter_columns(0, y, detail);
    if (low) low_row(0, y);
    if (!detail) return;
    for (int i = 0; i < around_.count; i += kFloats) {
      const int j = around_.first + i;
      store_vector(m_.ref[0] + i, adm_float_low_at(m_.high, j));
      store_vector(m_.ref[1] + i, adm_float_high_at(m_.low, j));
      store_vector(m_.ref[2] + i, adm_float_high_at(m_.high, j));
    }
  }

  void decouple(const Distorted &dist, int y) const {
    const SignalRow &restored = dist.restored[y % kRows], &additive = dist.additive[y % kRows];
    decouple_row<K>(m_.ref, m_.low, m_.high, around_, params_, p_, restored, additive);
    // Mirrored at the low side, repeated at the high side; where the region does not reach the border, the weights
    // beyond the row are not asked for.
    if (p_.left > 0) return;
    for (const SignalRow *row : {&restored, &additive})
      for (float *weights : row->neighbour) {
        weights[-1] = weights[1];
        weights[p_.width] = weights[p_.width - 1];
      }
  }

  void add_masked(int d, int y) const {
    const Distorted &dist = m_.dist[d];
    const size_t at = memory_.sums.picture * static_cast<size_t>(d) + row_number(y);
    masked_row<K>(around(dist.restored, y), around(dist.additive, y), left(), columns(), params_,
                  memory_.sums.num + at, memory_.sums.aim + at);
  }

  Masker around(const SignalRow (&rows)[kRows], int y) const {
    const int above = y > 0 ? y - 1 : 1, below = y + 1 < p_.height ? y + 1 : p_.height - 1;
    return {rows[above % kRows], rows[y % kRows], rows[below % kRows]};
  }

  const FrameView &frame_;
  const AdmFloatParams &params_;
  const AdmFloatScaleParams &p_;
  const int scale_;
  const FrameMemory &memory_;
  const Scratch &m_;
  const int distorted_;
  const Span around_;
};

size_t frame_bytes(const AdmFloatParams &params, int distorted) {
  Arena arena(nullptr);
  FrameMemory memory(&arena, params, distorted);
  return arena.used();
}

size_t scratch_bytes(const AdmFloatParams &params, int distorted) {
  Arena arena(nullptr);
  Scratch memory(&arena, params.width, distorted);
  return arena.used();
}

void measure(const AdmFloatStrip &strip) {
  Arena of_frame(strip.frame_memory), of_worker(strip.scratch);
  const AdmFloatParams &params = strip.params;
  const FrameMemory memory(&of_frame, params, strip.distorted);
  const Scratch m(&of_worker, params.width, strip.distorted);
  const auto run = [&](auto kind) { Strip<decltype(kind)>(strip, memory, m).run(strip.first, strip.last); };
  if (params.cubes && params.gain_is_f32)
    run(Kind<true, true>());
  else if (params.cubes)
    run(Kind<true, false>());
  else if (params.gain_is_f32)
    run(Kind<false, true>());
  else
    run(Kind<false, false>());
}

void total(const AdmFloatParams &params, int distorted, int pictures, std::byte *frame_memory,
           std::byte *sums) {
  Arena arena(frame_memory);
  const RowSums rows = FrameMemory(&arena, params, distorted).sums;
  const auto add = [&](const AdmFloatBands *from, int scale, float *to) {
    const AdmFloatScaleParams &p = params.scale[scale];
    AdmFloatBands sum = {};
    from += rows.scale[scale];
    for (int y = 0; y < p.bottom - p.top; y++) sum += from[y];
    for (int band = 0; band < kAdmBands; band++) to[band] = sum[band];
  };
  for (int d = 0; d < pictures; d++) {
    AdmFloatSums out = {};
    const size_t picture = rows.picture * static_cast<size_t>(d);
    for (int s = params.options.skip_scale0 ? 1 : 0; s < kAdmScales; s++) {
      add(rows.den, s, out.scale[s].den);
      add(rows.num + picture, s, out.scale[s].num);
      add(rows.aim + picture, s, out.scale[s].aim);
    }
    std::memcpy(sums + static_cast<size_t>(d) * sizeof out, &out, sizeof out);
  }
}

float power_of(float v, float exponent) { return real_power(F32{} + v, exponent)[0]; }

}  // namespace

extern const AdmFloatKernels adm_float_kernels = {scratch_bytes, frame_bytes, measure, total, power_of};

}  // namespace vmafhip::VMAFHIP_ISA
