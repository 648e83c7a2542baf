// psnr_hvs on the CPU: kWords blocks at a time, one in each lane, 16 bits for samples and coefficients, floats for what
// comes of them.
#include "engine/cpu/psnr_hvs.h"

#include "engine/arith/psnr_hvs.h"
#include "engine/cpu/psnr_hvs_words.h"

namespace vmafhip::VMAFHIP_ISA {
namespace {

static_assert(kHvsGroup % kWords == 0);

// Samples or coefficients of kWords blocks.
struct alignas(64) Blocks {
  int16_t of[kHvsTerms][kWords];

  VMAFHIP_FLOATS_FN W16 load(const Blocks &b, int k) { return load_vector<W16>(b.of[k]); }
  VMAFHIP_FLOATS_FN void store(Blocks *b, int k, W16 v) { store_vector(b->of[k], v); }
  // Of the lanes of the first or second half.
  VMAFHIP_FLOATS_FN F32 real(const Blocks &b, int k, int half) {
    return load_signed(b.of[k] + half * kFloats);
  }
};

// Where the blocks of a group begin in a plane.
template <class Sample>
struct Places {
  const Sample *at[kWords];

  Places(const PlaneView &plane, int64_t first, int64_t last) {
    const int across = hvs_blocks_across(plane.width);
    int64_t row = first / across;
    int column = static_cast<int>(first % across);
    for (int l = 0; l < kWords; l++) {
      const std::byte *line = static_cast<const std::byte *>(plane.data) + kHvsStep * row * plane.stride;
      at[l] = reinterpret_cast<const Sample *>(line) + kHvsStep * column;
      if (first + l + 1 >= last) continue;  // lanes beyond the last block have it again
      if (++column == across) {
        column = 0;
        ++row;
      }
    }
  }
};

template <class Sample>
VMAFHIP_FLOATS_FN void read_blocks(const PlaneView &plane, int64_t first, int64_t last, Blocks *samples) {
  const Places<Sample> places(plane, first, last);
  // Bits beyond the depth would not fit the 16 bits of sums.
  const int16_t top = static_cast<int16_t>((1 << plane.depth) - 1);
  const W16 all = W16{} + top;
  for (int i = 0; i < kHvsSize; i++) {
    W16 row[8], column[8];
#pragma GCC unroll 8
    for (int b = 0; b < 8; b++) {
      row[b] = load_eights(places.at + b, i * plane.stride);
      if constexpr (sizeof(Sample) == 2) row[b] &= all;
    }
    transpose_eights(row, column);
#pragma GCC unroll 8
    for (int j = 0; j < 8; j++) Blocks::store(samples, kHvsSize * i + j, column[j]);
  }
}

// Of each of eight lines, whose values are `step` apart; results are one after the other.
VMAFHIP_FLOATS_FN void transform_lines(const Blocks &from, Blocks *to) {
  for (int line = 0; line < kHvsSize; line++) {
    W16 a[8], out[8];
#pragma GCC unroll 8
    for (int k = 0; k < 8; k++) a[k] = Blocks::load(from, kHvsSize * k + line);
    hvs_transform(a, out);
#pragma GCC unroll 8
    for (int k = 0; k < 8; k++) Blocks::store(to, kHvsSize * line + k, out[k]);
  }
}

struct Picture {
  Blocks coefficients;
  F32 masking[2];
};

template <class Sample>
void measure_picture(const PlaneView &plane, int number, int64_t first, int64_t last, Picture *out) {
  Blocks samples, half_done;
  read_blocks<Sample>(plane, first, last, &samples);
  transform_lines(samples, &half_done);
  transform_lines(half_done, &out->coefficients);
  for (int half = 0; half < 2; half++) {
    const F32 contrast = hvs_contrast<F32>([&](int k) __attribute__((always_inline)) {
      return Blocks::real(samples, k, half);
    });
    out->masking[half] = hvs_masking<F32>(
        [&](int k) __attribute__((always_inline)) { return Blocks::real(out->coefficients, k, half); },
        kHvsMask.of[number], contrast);
  }
}

// terms[k][l] is term k of block l.
void compare(const Picture &ref, const Picture &dist, int number, float *terms) {
  const float(&mask)[kHvsTerms] = kHvsMask.of[number];
  const float(&sensitivity)[kHvsTerms] = kHvsSensitivity[number];
  for (int half = 0; half < 2; half++) {
    const F32 masking = maximum(dist.masking[half], ref.masking[half]);
#pragma GCC unroll 4
    for (int k = 0; k < kHvsTerms; k++) {
      const F32 difference =
          Blocks::real(ref.coefficients, k, half) - Blocks::real(dist.coefficients, k, half);
      store_vector(terms + k * kWords + half * kFloats,
                   hvs_term(difference, masking, k, mask[k], sensitivity[k]));
    }
  }
}

template <class Sample>
void measure_strip(const HvsStrip &strip) {
  Picture ref, dist;
  for (int64_t first = strip.first; first < strip.last; first += kWords) {
    measure_picture<Sample>(*strip.ref, strip.plane, first, strip.last, &ref);
    for (int d = 0; d < strip.distorted; d++) {
      measure_picture<Sample>(strip.dist[d], strip.plane, first, strip.last, &dist);
      compare(ref, dist, strip.plane, strip.terms[d] + (first - strip.first) * kHvsTerms);
    }
  }
}

void measure(const HvsStrip &strip) {
  if (strip.ref->depth == 8)
    measure_strip<uint8_t>(strip);
  else
    measure_strip<uint16_t>(strip);
}

// Several sums at a time: each addition waits for the one before.
template <int kSums>
void add_blocks(HvsSum *const (&sums)[kSums], int64_t blocks) {
  float sum[kSums];
  for (int s = 0; s < kSums; s++) sum[s] = sums[s]->sum;
  for (int64_t b = 0; b < blocks; b++) {
    const float *at[kSums];
    for (int s = 0; s < kSums; s++) {
      const int64_t block = sums[s]->next + b;
      at[s] = sums[s]->terms + block / kWords * (kWords * kHvsTerms) + block % kWords;
    }
#pragma GCC unroll 8
    for (int k = 0; k < kHvsTerms; k++) {
#pragma GCC unroll 4
      for (int s = 0; s < kSums; s++) sum[s] += at[s][k * kWords];
    }
  }
  for (int s = 0; s < kSums; s++) {
    sums[s]->sum = sum[s];
    sums[s]->next += blocks;
  }
}

void add(HvsSum *sums, int count) {
  for (;;) {
    constexpr int kMost = 4;
    HvsSum *open[kMost];
    int n = 0;
    int64_t blocks = INT64_MAX;  // that all of them have left
    for (int s = 0; s < count && n < kMost; s++)
      if (sums[s].next < sums[s].last) {
        blocks = smaller(blocks, sums[s].last - sums[s].next);
        open[n++] = &sums[s];
      }
    if (n == 4)
      add_blocks({open[0], open[1], open[2], open[3]}, blocks);
    else if (n == 3)
      add_blocks({open[0], open[1], open[2]}, blocks);
    else if (n == 2)
      add_blocks({open[0], open[1]}, blocks);
    else if (n == 1)
      add_blocks({open[0]}, blocks);
    else
      return;
  }
}

}  // namespace

extern const PsnrHvsKernels psnr_hvs_kernels = {measure, add};

}  // namespace vmafhip::VMAFHIP_ISA
