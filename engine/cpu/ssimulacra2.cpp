// SSIMULACRA 2 on the CPU: a scale in blocks of kBlock rows and columns. Blurs along rows have rows in their lanes,
// blurs along columns have columns; blocks are transposed in between.
//
// A block of inputs at (x, y) gives outputs at (x - kAhead, y - kAhead). Blocks go on beyond the border until the last
// output is out; what lies outside the picture is not summed.
#include "engine/cpu/ssimulacra2.h"
#include "engine/cpu/floats.h"
#include "engine/cpu/ssimulacra2_colours.h"

namespace vmafhip::VMAFHIP_ISA {
namespace {

constexpr int kGroups = kBlock / kFloats;  // vectors that hold the lines of a block

using Blur = Ssimulacra2Blur<F32>;

// States lie as [6][kBlock]; `group` is a vector of lines.
Blur load_state(const float *from, int group) {
  Blur state;
  for (int k = 0; k < 3; k++) {
    state.last[k] = load_floats(from + k * kBlock + group * kFloats);
    state.before[k] = load_floats(from + (3 + k) * kBlock + group * kFloats);
  }
  return state;
}

void save_state(const Blur &state, float *to, int group) {
  for (int k = 0; k < 3; k++) {
    store_vector(to + k * kBlock + group * kFloats, state.last[k]);
    store_vector(to + (3 + k) * kBlock + group * kFloats, state.before[k]);
  }
}

// Samples of kFloats rows with rows in the lanes: the kWindow columns before a block, then its own.
struct Turned {
  F32 column[kWindow + kBlock];
};

void turn_in(const float *const *rows, int x, float *past, int group, Turned &out) {
  for (int i = 0; i < kWindow; i++) out.column[i] = load_floats(past + i * kBlock + group * kFloats);
  for (int j = 0; j < kGroups; j++) {
    F32 square[kFloats];
    for (int i = 0; i < kFloats; i++) square[i] = load_floats(rows[group * kFloats + i] + x + j * kFloats);
    transpose(square);
    for (int i = 0; i < kFloats; i++) out.column[kWindow + j * kFloats + i] = square[i];
  }
  for (int i = 0; i < kWindow; i++) store_vector(past + i * kBlock + group * kFloats, out.column[kBlock + i]);
}

// input(i): the line's sample at step i - kWindow of the block.
template <class Input>
void blur_across(Input input, float *state_at, int group, float *to) {
  Blur state = load_state(state_at, group);
  F32 out[kBlock];
  for (int i = 0; i < kBlock; i++) out[i] = ssimulacra2_blur_step(state, input(i), input(i + kWindow));
  save_state(state, state_at, group);
  for (int j = 0; j < kGroups; j++) {
    F32 square[kFloats];
    for (int i = 0; i < kFloats; i++) square[i] = out[j * kFloats + i];
    transpose(square);
    for (int i = 0; i < kFloats; i++)
      store_vector(to + (group * kFloats + i) * kBlock + j * kFloats, square[i]);
  }
}

// In place; `state_at`: states, then past inputs.
void blur_down(float *block, float *state_at) {
  float *past = state_at + kStateFloats;
  for (int group = 0; group < kGroups; group++) {
    const auto at = [&](float *rows, int i) { return rows + i * kBlock + group * kFloats; };
    Blur state = load_state(state_at, group);
    F32 in[kWindow + kBlock];
    for (int i = 0; i < kWindow; i++) in[i] = load_floats(at(past, i));
    for (int i = 0; i < kBlock; i++) in[kWindow + i] = load_floats(at(block, i));
    for (int i = 0; i < kBlock; i++)
      store_vector(at(block, i), ssimulacra2_blur_step(state, in[i], in[i + kWindow]));
    for (int i = 0; i < kWindow; i++) store_vector(at(past, i), in[kBlock + i]);
    save_state(state, state_at, group);
  }
}

// Rows [first, last) of a block of means; the pixels are kAhead to the left of x.
struct MapRows {
  int first, last;
  const float *a[kBlock], *b[kBlock];
  const float *mean_a, *mean_aa, *mean_b, *mean_bb, *mean_ab;
};

// kAlone: of artefacts alone.
template <bool kAlone>
void sum_maps(const MapRows &rows, int x, double *columns) {
  constexpr int kFirst = kAlone ? kSsimulacra2Artefacts : 0, kCount = kAlone ? 1 : kMaps;
  for (int group = 0; group < kGroups; group++) {
    Wide sums[2 * kCount];
    const auto at = [&](int k) {
      return columns + (kFirst + k % kCount + k / kCount * kMaps) * kBlock + group * kFloats;
    };
    for (int k = 0; k < 2 * kCount; k++)
      sums[k] = Wide::make(load_doubles(at(k)), load_doubles(at(k) + kFloats / 2));
    for (int i = rows.first; i < rows.last; i++) {
      const auto mean = [&](const float *from) { return load_floats(from + i * kBlock + group * kFloats); };
      const int from = x - kAhead + group * kFloats;
      const F32 a = load_floats(rows.a[i] + from), b = load_floats(rows.b[i] + from);
      Ssimulacra2Values<Wide> maps;
      if constexpr (kAlone)
        maps.map[0] = ssimulacra2_artefacts(a, b, mean(rows.mean_a), mean(rows.mean_b));
      else
        maps = ssimulacra2_maps(Ssimulacra2Pixel<F32>{a, b, mean(rows.mean_a), mean(rows.mean_b),
                                                      mean(rows.mean_aa), mean(rows.mean_bb),
                                                      mean(rows.mean_ab)});
      for (int k = 0; k < kCount; k++) {
        sums[k] = sums[k] + maps.map[k];
        sums[kCount + k] = sums[kCount + k] + ssimulacra2_power4(maps.map[k]);
      }
    }
    for (int k = 0; k < 2 * kCount; k++) {
      store_vector(at(k), sums[k].low);
      store_vector(at(k) + kFloats / 2, sums[k].high);
    }
  }
}

// One channel of the block whose inputs begin at row y and at column x of the strip. `alone`: its artefacts are all that is
// measured.
void do_block(const Ssimulacra2Memory &m, int channel, bool alone, int y, int x, int height) {
  const int band = y / kBlock, block = x / kBlock, distorted = m.pictures - 1;
  constexpr int kSquare = kBlock * kBlock;
  float *across = m.across_of(band, channel), *past = m.past_of(band, channel);
  for (int group = 0; group < kGroups; group++) {
    Turned a, b;
    const float *rows[kBlock];
    const auto turn = [&](int picture, Turned &out) {
      for (int i = 0; i < kBlock; i++) rows[i] = m.ring_row(picture, channel, y + i);
      turn_in(rows, x, past + picture * kPastFloats, group, out);
    };
    const auto blur = [&](int line, auto input) {
      if (alone && !is_mean(line)) return;
      blur_across(input, across + line * kStateFloats, group, m.blurred + line * kSquare);
    };
    turn(0, a);
    blur(0, [&](int i) { return a.column[i]; });
    blur(1, [&](int i) { return a.column[i] * a.column[i]; });
    for (int d = 0; d < distorted; d++) {
      turn(1 + d, b);
      blur(2 + 3 * d, [&](int i) { return b.column[i]; });
      blur(3 + 3 * d, [&](int i) { return b.column[i] * b.column[i]; });
      blur(4 + 3 * d, [&](int i) { return a.column[i] * b.column[i]; });
    }
  }
  float *down = m.down_of(block, channel);
  for (int line = 0; line < m.lines; line++)
    if (!alone || is_mean(line))
      blur_down(m.blurred + line * kSquare, down + line * (kStateFloats + kPastFloats));

  MapRows maps;
  const int top = y - kAhead;
  maps.first = larger(0, -top);
  maps.last = smaller(kBlock, height - top);
  maps.mean_a = m.blurred;
  maps.mean_aa = m.blurred + kSquare;
  for (int d = 0; d < distorted; d++) {
    for (int i = maps.first; i < maps.last; i++) {
      maps.a[i] = m.ring_row(0, channel, top + i);
      maps.b[i] = m.ring_row(1 + d, channel, top + i);
    }
    maps.mean_b = m.blurred + (2 + 3 * d) * kSquare;
    maps.mean_bb = maps.mean_b + kSquare;
    maps.mean_ab = maps.mean_bb + kSquare;
    double *columns = m.columns_of(block, channel) + d * 2 * kMaps * kBlock;
    alone ? sum_maps<true>(maps, x, columns) : sum_maps<false>(maps, x, columns);
  }
}

template <class T>
void clear(T *from, ptrdiff_t count) {
  std::memset(static_cast<void *>(from), 0, static_cast<size_t>(count) * sizeof(T));
}

// Adds the columns of a strip that begins at column `first`.
void add_columns(const Ssimulacra2Memory &m, int first, int blocks, int width) {
  const int series = (m.pictures - 1) * 2 * kMaps;  // of a channel
  for (int block = 0; block < blocks; block++)
    for (int c = 0; c < kChannels; c++)
      for (int k = 0; k < series; k++)
        for (int i = 0; i < kBlock; i++) {
          const int column = first + block * kBlock - kAhead + i;
          if (column >= 0 && column < width)
            m.lanes[(c * series + k) * kSumLanes + column % kSumLanes] +=
                m.columns_of(block, c)[k * kBlock + i];
        }
}

size_t scratch_bytes(int height, int distorted) {
  Arena arena(nullptr);
  Ssimulacra2Memory memory(&arena, height, distorted);
  return arena.used();
}

void scale(const Ssimulacra2Scale &work) {
  Arena arena(work.scratch);
  const int distorted = work.distorted, series = distorted * 2 * kMaps;
  const Ssimulacra2Memory m(&arena, work.height, distorted);
  const int bands = m.bands_of(work.height), all_blocks = m.bands_of(work.width);
  clear(m.across, static_cast<ptrdiff_t>(bands) * kChannels * m.lines * kStateFloats);
  clear(m.past, static_cast<ptrdiff_t>(bands) * kChannels * m.pictures * kPastFloats);
  clear(m.lanes, static_cast<ptrdiff_t>(kChannels) * series * kSumLanes);
  for (int done = 0; done < all_blocks; done += kStripBlocks) {
    const int first = done * kBlock, blocks = smaller(kStripBlocks, all_blocks - done);
    clear(m.down, static_cast<ptrdiff_t>(blocks) * kChannels * m.lines * (kStateFloats + kPastFloats));
    clear(m.columns, static_cast<ptrdiff_t>(blocks) * kChannels * series * kBlock);
    for (int y = 0; y < bands * kBlock; y += kBlock) {
      for (int picture = 0; picture < m.pictures; picture++)
        for (int i = 0; i < kBlock; i++) read_row(work, m, picture, y + i, first);
      for (int block = 0; block < blocks; block++)
        for (int c = 0; c < kChannels; c++)
          do_block(m, c, ssimulacra2_artefacts_alone(work.scale, c), y, block * kBlock, work.height);
    }
    add_columns(m, first, blocks, work.width);
  }
  for (int c = 0; c < kChannels; c++)
    for (int d = 0; d < distorted; d++)
      for (int k = 0; k < 2 * kMaps; k++)
        work.sums[d].sum[work.scale][c][k] = lane_sum(m.lanes + (c * series + d * 2 * kMaps + k) * kSumLanes);
}

}  // namespace

extern const Ssimulacra2Kernels ssimulacra2_kernels = {scratch_bytes, scale};

}  // namespace vmafhip::VMAFHIP_ISA
