// ADM on the CPU: a strip of band rows of one scale. Row by row: wavelet, decoupling, weights, and, one row later,
// when the weights of the row below are known, the masked sums.
//
// Only the low bands that later scales read are kept, in the frame's memory; of everything else the last three rows.
// Detail bands are worked out where sums need them: in the region and one sample around it, which strips that meet
// do twice. What depends on the reference alone is done once for all distorted pictures.
#include "engine/cpu/adm.h"

#include <cstddef>

#include "engine/cpu/arena.h"
#include "engine/cpu/kernels.h"
#include "engine/cpu/lanes.h"

#if VMAFHIP_LANES
#include "engine/cpu/adm_lanes.h"
#else
#include "engine/cpu/adm_plain.h"
#endif

namespace vmafhip::VMAFHIP_ISA {
namespace {

#if VMAFHIP_LANES
using V = Lanes;
#else
using V = Plain;
#endif

// Rows of a signal that there are structs for: three make the neighbourhood of a masked sample, and of what only the row
// itself needs there are two, the current one's and the one's above.
constexpr int kRows = 6;
// What vectors may read and write beyond the end of a row: two of the widest, as filters read every other sample.
constexpr size_t kBeyond = 64;

size_t padded(int count) { return (static_cast<size_t>(count) + kBeyond - 1) / kBeyond * kBeyond; }

// ---- Memory -------------------------------------------------------------------------------------------------

// Low bands of scales 0 to 2 in the frame's memory: of the reference, then of each distorted picture.
struct LowBands {
  int16_t *low, *high;  // of picture 0; no high half at scale 0
  size_t stride;        // samples from row to row,
  size_t picture;       //   from picture to picture

  AdmHalves row(int image, int y) const {
    const size_t at = picture * static_cast<size_t>(image) + stride * static_cast<size_t>(y);
    return {low + at, high ? high + at : nullptr};
  }
};

struct FrameMemory {
  LowBands scale[kAdmScales - 1];

  FrameMemory(Arena *arena, const AdmParams &params, int distorted) {
    const size_t pictures = 1 + static_cast<size_t>(distorted);
    for (int s = 0; s + 1 < kAdmScales; s++) {
      LowBands &bands = scale[s];
      bands.stride = padded(params.scale[s].width);
      bands.picture = bands.stride * static_cast<size_t>(params.scale[s].height);
      bands.low = arena->take<int16_t>(bands.picture * pictures);
      bands.high = s > 0 ? arena->take<int16_t>(bands.picture * pictures) : nullptr;
    }
  }
};

// The last rows of a decoupled signal. Little memory, so that what is written soon finds its place in the first-level cache.
template <class Row>
struct Signal {
  Row row[kRows];

  void take(Arena *arena, size_t count) {
    for (int k = 0; k < kRows; k++)
      row[k].take(arena, count, kBeyond, k >= 2 ? &row[k - 2] : nullptr, k >= 3 ? &row[k - 3] : nullptr);
  }
};

template <class Row>
struct Decoupled {
  Signal<Row> restored, additive;
};

template <int kScale>
struct Scratch {
  using Sample = typename AdmTypes<kScale>::Sample;
  using Row = typename AdmTypes<kScale>::Row;

  AdmHalves low, high;         // after the vertical filter; one mirrored sample before, two behind
  Sample *band[2][kAdmBands];  // a row of h, v, d: reference, distorted
  struct Reach {
    Sample *band[kAdmBands];
  };
  Reach *reaches;                      // adm_reach() of the reference's row, for each gain limit
  Decoupled<Row> *signals;             // for each distorted picture, one for each gain limit
  AdmDecoupledRow<Row, Sample> *rows;  // the current one's, for each gain limit

  // `width` of what the scale filters.
  Scratch(Arena *arena, int width, int distorted, int limits) {
    const size_t columns = padded(width), half = padded((width + 1) / 2);
    for (AdmHalves *row : {&low, &high}) {
      row->low = arena->take<int16_t>(columns, 1, 2 * kBeyond);
      row->high = arena->take<int16_t>(columns, 1, 2 * kBeyond);
    }
    const auto take = [&](Sample *(&bands)[kAdmBands]) {
      for (Sample *&row : bands) row = arena->take<Sample>(half, 0, kBeyond);
    };
    take(band[0]);
    take(band[1]);
    // When bytes are counted, there are no arrays to write to.
    reaches = arena->take<Reach>(static_cast<size_t>(limits));
    for (int i = 0; i < limits; i++) {
      Reach unused;
      take((reaches ? reaches[i] : unused).band);
    }
    rows = arena->take<AdmDecoupledRow<Row, Sample>>(static_cast<size_t>(limits));
    signals = arena->take<Decoupled<Row>>(static_cast<size_t>(distorted * limits));
    for (int i = 0; i < distorted * limits; i++) {
      Decoupled<Row> unused;
      Decoupled<Row> &to = signals ? signals[i] : unused;
      to.restored.take(arena, half);
      to.additive.take(arena, half);
    }
  }
};

int source_width(const AdmParams &params, int scale) {
  return scale == 0 ? params.width : params.scale[scale - 1].width;
}
int source_height(const AdmParams &params, int scale) {
  return scale == 0 ? params.height : params.scale[scale - 1].height;
}

// ---- Wavelet ------------------------------------------------------------------------------------------------

void extend(int16_t *row, int width) {
  row[-1] = row[adm_index(-1, width)];
  row[width] = row[adm_index(width, width)];
  row[width + 1] = row[adm_index(width + 1, width)];
  // The last vector's lanes behind the picture decide nothing, but what they ask must not depend on what a
  // source left behind its rows.
  for (int i = 2; i < 2 + 2 * V::kWords; i++) row[width + i] = 0;
}

// Vertical filters around band row y of picture `image`; high pass only if `detail`.
template <int kScale>
void filter_columns(const PlaneView &view, const LowBands *from, int image, int y, int width, int height,
                    bool detail, const Scratch<kScale> &m) {
  const auto row_number = [&](int k) { return adm_index(2 * y - 1 + k, height); };
  if constexpr (kScale == 0) {
    const auto run = [&](auto rows) {
      using Sample = typename decltype(rows)::Type;
      for (int k = 0; k < 4; k++) rows.low[k] = row_of<Sample>(view, row_number(k));
      for (int k = 0; k < 2; k++)
        rows.next_low[k] = 2 * y + 3 + k < height ? row_of<Sample>(view, 2 * y + 3 + k) : nullptr;
      adm_columns<V, kScale>(rows, width, view.depth, detail, m.low, m.high);
    };
    if (view.depth == 8)
      run(AdmSourceRows<uint8_t>());
    else
      run(AdmSourceRows<uint16_t>());
  } else {
    AdmSourceRows<int16_t> rows = {};
    for (int k = 0; k < 4; k++) {
      const AdmHalves row = from->row(image, row_number(k));
      rows.low[k] = row.low;
      rows.high[k] = row.high;
    }
    for (int k = 0; k < 2; k++)
      if (2 * y + 3 + k < height) {
        const AdmHalves row = from->row(image, 2 * y + 3 + k);
        rows.next_low[k] = row.low;
        rows.next_high[k] = row.high;
      }
    const int whole = (width + V::kWords - 1) / V::kWords * V::kWords;  // within the stride
    adm_columns<V, kScale>(rows, whole, 16, detail, m.low, m.high);
  }
  extend(m.low.low, width);
  if (kScale > 0) extend(m.low.high, width);
  if (!detail) return;
  extend(m.high.low, width);
  if (kScale > 0) extend(m.high.high, width);
}

// ---- Strips -------------------------------------------------------------------------------------------------

// Rows of a strip, ends exclusive.
struct Rows {
  int first, last;
};

template <int kScale>
class Strip {
 public:
  Strip(const AdmStrip &strip, const FrameMemory &bands, const Scratch<kScale> &m)
      : strip_(strip),
        params_(strip.params),
        p_(params_.scale[kScale]),
        from_(kScale > 0 ? &bands.scale[larger(kScale - 1, 0)] : nullptr),
        to_(kScale + 1 < kAdmScales ? &bands.scale[smaller(kScale, kAdmScales - 2)] : nullptr),
        m_(m),
        distorted_(static_cast<int>(strip.frame.dist.size())),
        limits_(strip.limits),
        around_{larger(p_.left - 1, 0), smaller(p_.right + 1, p_.width) - larger(p_.left - 1, 0)} {}

  void run() {
    const Rows rows = {strip_.first, strip_.last};
    const bool skip = kScale == 0 && params_.options.skip_scale0;
    // Rows that this strip pools, and the one above and below whose weights they need.
    const Rows pooled = {larger(rows.first, p_.top), smaller(rows.last, p_.bottom)};
    const Rows detail = skip || pooled.first >= pooled.last
                            ? Rows{rows.last, rows.last}
                            : Rows{larger(pooled.first - 1, 0), smaller(pooled.last + 1, p_.height)};
    for (int i = 0; i < distorted_ * limits_; i++) strip_.sums[i] = AdmScaleSums();
    const int last = larger(detail.last, rows.last);
    for (int y = smaller(detail.first, rows.first); y < last; y++) {
      const bool own = y >= rows.first && y < rows.last;
      const bool need = y >= detail.first && y < detail.last;
      const bool pool = y >= pooled.first && y < pooled.last;
      transform(0, y, own, need);
      if (need && pool) add_den();
      if (need) reach();
      for (int d = 0; d < distorted_; d++) {
        transform(1 + d, y, own, need);
        if (!need) continue;
        decouple(d, y);
        // The row above now has all its neighbours; the last row of the band is its own neighbour below.
        if (y - 1 >= pooled.first && y - 1 < pooled.last) add_masked(d, y - 1);
        if (pool && y + 1 == p_.height) add_masked(d, y);
      }
    }
  }

 private:
  using Sample = typename AdmTypes<kScale>::Sample;
  using Row = typename AdmTypes<kScale>::Row;

  // One row of bands: low into the frame's memory, detail into the scratch.
  void transform(int image, int y, bool low, bool detail) {
    low = low && kScale + 1 < kAdmScales;
    if (!low && !detail) return;
    const int width = source_width(params_, kScale), height = source_height(params_, kScale);
    const FrameView &frame = strip_.frame;
    const PlaneView &view = image == 0 ? frame.ref[0] : frame.dist[static_cast<size_t>(image - 1)][0];
    filter_columns<kScale>(view, from_, image, y, width, height, detail, m_);
    if constexpr (kScale + 1 < kAdmScales)
      if (low) adm_low_band<V, kScale>(m_.low, p_.width, to_->row(image, y));
    if (detail) adm_detail_bands<V, kScale>(m_.low, m_.high, around_, m_.band[image > 0]);
  }

  void add_den() {
    const int begin = p_.left - around_.first;
    for (int band = 0; band < kAdmBands; band++) {
      const uint64_t row = adm_den_row<V, kScale>(m_.band[0][band], begin, p_.right - p_.left, p_);
      const uint64_t rounded = (row + static_cast<uint64_t>(half_of(p_.den_row_shift))) >> p_.den_row_shift;
      for (int i = 0; i < distorted_ * limits_; i++) strip_.sums[i].den[band] += rounded;
    }
  }

  void reach() {
    for (int i = 0; i < limits_; i++) {
      AdmDecoupledRow<Row, Sample> &row = m_.rows[i];
      row.limit = AdmGainLimit(strip_.gain_limits[i]);
      Sample *const *to = m_.reaches[i].band;
      row.reach = adm_reach<V>(m_.band[0], around_.count, row.limit, to) ? to : nullptr;
    }
  }

  void decouple(int d, int y) {
    const bool aim = !params_.options.skip_aim;
    for (int i = 0; i < limits_; i++) {
      Decoupled<Row> &to = m_.signals[d * limits_ + i];
      m_.rows[i].restored = &to.restored.row[y % kRows];
      m_.rows[i].additive = &to.additive.row[y % kRows];
    }
    adm_decouple<V, kScale>(m_.band[0], m_.band[1], around_.count, p_, aim, m_.rows, limits_);
    for (int i = 0; i < limits_; i++) {
      finish_weights(*m_.rows[i].additive);
      if (aim) finish_weights(*m_.rows[i].restored);
    }
  }

  // Mirrored at the low side, repeated at the high side; where the region does not reach the border, the weights
  // beyond the row are not asked for.
  void finish_weights(const Row &row) const {
    if (p_.left == 0) {
      row.neighbour[-1] = row.neighbour[1];
      row.neighbour[p_.width] = row.neighbour[p_.width - 1];
    }
    adm_beside<V>(row, around_.count);
  }

  void add_masked(int d, int y) {
    for (int i = d * limits_; i < (d + 1) * limits_; i++) {
      const Decoupled<Row> &from = m_.signals[i];
      add_masked(from.restored, from.additive, y, strip_.sums[i].num);
      if (!params_.options.skip_aim) add_masked(from.additive, from.restored, y, strip_.sums[i].aim);
    }
  }

  void add_masked(const Signal<Row> &signal, const Signal<Row> &masker, int y, int64_t *sums) {
    const int above = y > 0 ? y - 1 : 1, below = y + 1 < p_.height ? y + 1 : p_.height - 1;
    const AdmMaskers<Row> by = {&masker.row[above % kRows], &masker.row[y % kRows],
                                &masker.row[below % kRows]};
    int64_t rows[kAdmBands];
    adm_masked_row<V, kScale>(signal.row[y % kRows], by, p_.left - around_.first, p_.right - p_.left, p_,
                              rows);
    for (int band = 0; band < kAdmBands; band++)
      sums[band] += (rows[band] + half_of(p_.row_shift)) >> p_.row_shift;
  }

  const AdmStrip &strip_;
  const AdmParams &params_;
  const AdmScaleParams &p_;
  const LowBands *from_, *to_;
  const Scratch<kScale> &m_;
  const int distorted_, limits_;
  const AdmSpan around_;
};

size_t frame_bytes(const AdmParams &params, int distorted) {
  Arena arena(nullptr);
  FrameMemory memory(&arena, params, distorted);
  return arena.used();
}

template <int kScale>
size_t scratch_bytes_of(const AdmParams &params, int distorted, int limits) {
  Arena arena(nullptr);
  Scratch<kScale> memory(&arena, source_width(params, kScale), distorted, limits);
  return arena.used();
}

// Scale 1 has half as many samples a row as scale 0, of up to twice the size.
size_t scratch_bytes(const AdmParams &params, int distorted, int limits) {
  return larger(scratch_bytes_of<0>(params, distorted, limits),
                scratch_bytes_of<1>(params, distorted, limits));
}

template <int kScale>
void measure_scale(const AdmStrip &strip) {
  Arena of_frame(strip.frame_memory), of_worker(strip.scratch);
  const FrameMemory bands(&of_frame, strip.params, strip.distorted);
  const Scratch<kScale> m(&of_worker, source_width(strip.params, kScale), strip.distorted, strip.limits);
  Strip<kScale>(strip, bands, m).run();
}

void measure(const AdmStrip &strip) {
  switch (strip.scale) {
    case 0:
      return measure_scale<0>(strip);
    case 1:
      return measure_scale<1>(strip);
    case 2:
      return measure_scale<2>(strip);
    default:
      return measure_scale<3>(strip);
  }
}

}  // namespace

extern const AdmKernels adm_kernels = {scratch_bytes, frame_bytes, measure};

}  // namespace vmafhip::VMAFHIP_ISA
