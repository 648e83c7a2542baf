// ADM's sums of a row on vectors: what is left of a signal above its masking threshold, cubed, and the cubes of the reference.
#pragma once
#include "engine/cpu/adm_coarse_lanes.h"
#include "engine/cpu/adm_fine_lanes.h"

namespace vmafhip {
namespace {

// Calls step(i, lanes) for whole vectors with all lanes and for the rest with the first few.
template <class V, class Step>
VMAFHIP_SIMD_FN void over_row(int count, Step step) {
  int i = 0;
  for (; i + V::kDwords <= count; i += V::kDwords) step(i, V::all_lanes());
  if (i < count) step(i, V::first_lanes(count - i));
}

// Calls step(i, even, odd), with the lanes of the even and the odd columns of a block from column i on that lie in
// [begin, end); begin is 0 or 1.
template <class V, class Step>
VMAFHIP_SIMD_FN void over_blocks(int begin, int end, Step step) {
  const auto partial = [&](int i) __attribute__((always_inline)) {
    const int rest = smaller(end - i, V::kWords);
    auto even = V::first_lanes((rest + 1) / 2);
    if (i < begin) even = V::lanes(V::bits(even) & ~1u);
    step(i, even, V::first_lanes(rest / 2));
  };
  int i = 0;
  if (begin > 0) partial(i), i += V::kWords;
  for (; i + V::kWords <= end; i += V::kWords) step(i, V::all_lanes(), V::all_lanes());
  if (i < end) partial(i);
}

// Sums of adm_cube_offset(): every lane carries an offset, so that the last shift can be a logical one; lanes that are left
// out hold 0 and carry it as well.
template <class V, int kScale>
class AdmCubes {
 public:
  explicit AdmCubes(const AdmScaleParams &p) : p_(p) {
    for (int band = 0; band < kAdmBands; band++) {
      sums_[band] = V::set_wide(0);
      const uint64_t half = static_cast<uint64_t>(half_of(p.col_shift[band]));
      round_[band] = V::set_wide(static_cast<int64_t>(half + (uint64_t{1} << 63)));
    }
  }

  template <int kBand>
  [[gnu::always_inline]] void add(typename V::I x) {
    constexpr int kSquare = adm_square_shift(kScale, kBand);
    const auto square =
        V::template shr<kSquare>(V::add(V::mul_unsigned(x, x), V::set_wide(int64_t{1} << (kSquare - 1))));
    const auto cube = V::mul_signed_wide(square, x);
    sums_[kBand] = V::add(sums_[kBand], V::shr(V::add(cube, round_[kBand]), p_.col_shift[kBand]));
  }

  // `vectors`: how often add() was called for each band.
  void sum(int64_t *rows, int vectors) const {
    for (int band = 0; band < kAdmBands; band++) {
      const uint64_t offset = (uint64_t{1} << 63) >> p_.col_shift[band];
      rows[band] =
          static_cast<int64_t>(V::sum(sums_[band]) - offset * static_cast<uint64_t>(vectors * V::kDwords));
    }
  }

 private:
  const AdmScaleParams &p_;
  typename V::Wide sums_[kAdmBands], round_[kAdmBands];
};

template <class V, int kScale>
void adm_masked_row(const AdmFineRow &signal, const AdmMaskers<AdmFineRow> &by, int begin, int count,
                    const AdmScaleParams &p, int64_t *rows) {
  static_assert(kScale == 0);
  using I = typename V::I;
  AdmCubes<V, 0> cubes(p);
  const I words = V::set(0xffff);
  const I csf[kAdmBands] = {V::set(static_cast<int32_t>(p.csf[0])), V::set(static_cast<int32_t>(p.csf[1])),
                            V::set(static_cast<int32_t>(p.csf[2]))};
  const bool wrapped = by.here->wrapped;
  int vectors = 0;
  over_blocks<V>(
      begin, begin + count,
      [&](int i, typename V::Mask even_lanes, typename V::Mask odd_lanes) __attribute__((always_inline)) {
        const auto around = [&](int at) __attribute__((always_inline)) {
          return V::add(V::add(V::load(by.above->beside + at), V::load(by.below->beside + at)),
                        V::load(by.here->beside + at));
        };
        const I rest = V::load(by.here->rest + i);
        I even = V::add(around(i), V::bit_and(rest, words)),
          odd = V::add(around(i + V::kDwords), V::template shr<16>(rest));
        if (wrapped) [[unlikely]] {
          const I wraps = V::load(by.here->wraps + i);
          even = V::sub(even, V::template shl<16>(wraps));
          odd = V::sub(odd, V::bit_and(wraps, V::set(-65536)));
        }
        unroll<kAdmBands>([&](auto number) __attribute__((always_inline)) {
          constexpr int kBand = number;
          constexpr int kShift = adm_threshold_shift0(kBand);
          const I size = V::load(signal.size[kBand] + i);
          const auto above = [&](I sample, I threshold, typename V::Mask use) __attribute__((always_inline)) {
            const I x = V::sub(V::mul(sample, csf[kBand]), V::template shl<kShift>(threshold));
            return V::keep(use, V::max(x, V::zero()));
          };
          cubes.template add<kBand>(above(V::bit_and(size, words), even, even_lanes));
          cubes.template add<kBand>(above(V::template shr<16>(size), odd, odd_lanes));
        });
        vectors += 2;
      });
  cubes.sum(rows, vectors);
}

template <class V, int kScale>
void adm_masked_row(const AdmCoarseRow &signal, const AdmMaskers<AdmCoarseRow> &by, int begin, int count,
                    const AdmScaleParams &p, int64_t *rows) {
  using I = typename V::I;
  AdmCubes<V, kScale> cubes(p);
  int vectors = 0;
  over_row<V>(
      count, [&](int k, typename V::Mask use) __attribute__((always_inline)) {
        const int i = begin + k;
        const I threshold = V::add(V::add(V::load(by.above->beside + i), V::load(by.below->beside + i)),
                                   V::add(V::load(by.here->beside + i), V::load(by.here->rest + i)));
        unroll<kAdmBands>([&](auto number) __attribute__((always_inline)) {
          constexpr int kBand = number;
          const I x = V::sub(V::load(signal.size[kBand] + i), threshold);
          cubes.template add<kBand>(V::keep(use, V::max(x, V::zero())));
        });
        vectors += 1;
      });
  cubes.sum(rows, vectors);
}

// Cubes of the reference at scale 0; magnitudes have 15 bits.
template <class V, int kScale>
uint64_t adm_den_row(const int16_t *ref, int begin, int count, const AdmScaleParams &) {
  static_assert(kScale == 0);
  using I = typename V::I;
  typename V::Wide sum = V::set_wide(0);
  over_blocks<V>(
      begin, begin + count,
      [&](int i, typename V::Mask even_lanes, typename V::Mask odd_lanes) __attribute__((always_inline)) {
        const I size = V::abs16(V::load(ref + i));
        const I even = V::keep(even_lanes, V::bit_and(size, V::set(0xffff))),
                odd = V::keep(odd_lanes, V::template shr<16>(size));
        sum = V::add(sum, V::mul_unsigned(V::mul(even, even), even));
        sum = V::add(sum, V::mul_unsigned(V::mul(odd, odd), odd));
      });
  return V::sum(sum);
}

template <class V, int kScale>
uint64_t adm_den_row(const int32_t *ref, int begin, int count, const AdmScaleParams &p) {
  using I = typename V::I;
  typename V::Wide sum = V::set_wide(0);
  const auto round = V::set_wide(half_of(p.den_col_shift));
  over_row<V>(
      count, [&](int i, typename V::Mask use) __attribute__((always_inline)) {
        const I size = V::keep(use, V::abs(V::load(ref + begin + i)));
        // The square is below 2^62, so that what is left of it fits u32.
        constexpr int kShift = adm_den_square_shift(kScale);
        const auto square =
            V::template shr<kShift>(V::add(V::mul_unsigned(size, size), V::set_wide(int64_t{1} << kShift)));
        sum = V::add(sum, V::shr(V::add(V::mul_unsigned_wide(square, size), round), p.den_col_shift));
      });
  return V::sum(sum);
}

}  // namespace
}  // namespace vmafhip
