// SSIMULACRA 2 (engine/arith/ssimulacra2.h has the definition). Recursions have no beginning but the border: a thread has
// a line of a whole row, or of a whole column, of a channel. All scales, channels and pairs go along at the same time.
#include "kernels/lane_sums.h"
#include "kernels/ssimulacra2_args.h"
#include "kernels/tile.h"

using namespace vmafhip;

namespace {

constexpr int kChannels = kSsimulacra2Channels, kRefLines = kSsimulacra2RefLines, kMaps = kSsimulacra2Maps;
constexpr int kWindow = kSsimulacra2Window, kAhead = kSsimulacra2Ahead;
// What is blurred, in the order of the lines.
enum Line { kLineA, kLineAA, kLineB, kLineBB, kLineAB };

using Colour = Ssimulacra2Colour<float>;
using Blur = Ssimulacra2Blur<float>;

template <int kCount>
struct alignas(4 * kCount) Floats {
  float v[kCount];
};

GPU_FN int64_t channel_at(const Ssimulacra2Plane &plane, int channel) {
  return plane.at + channel * ssimulacra2_plane_floats(plane);
}

// ---- Colours --------------------------------------------------------------------------------------------------------

GPU_FN float decode(float coded, DeviceAddress<const Ssimulacra2Piece> curve) {
  const float position = ssimulacra2_position(coded);
  const int32_t number = truncate(position);
  const Ssimulacra2Piece piece = *(curve + number).get();
  return piece.value + piece.step * (position - to_real(number));
}

// kCount pixels of row y from x on; the last of a row repeats.
template <class Sample, int kCount>
GPU_FN void read_colours(const Ssimulacra2ColourArgs &args, const Ssimulacra2Source &source, int x, int y,
                         Colour *to) {
  const int width = args.layout.scale[0].width, chroma_y = y >> args.chroma_shift_y;
  const int chroma_width = ((width - 1) >> args.chroma_shift_x) + 1;
  const Sample *rows[kChannels] = {tile_row<Sample>(source.planes[0], y, width),
                                   tile_row<Sample>(source.planes[1], chroma_y, chroma_width),
                                   tile_row<Sample>(source.planes[2], chroma_y, chroma_width)};
#pragma unroll
  for (int i = 0; i < kCount; i++) {
    const int at = smaller(x + i, width - 1), chroma_at = at >> args.chroma_shift_x;
    to[i] = ssimulacra2_coded(static_cast<float>(rows[0][at]), static_cast<float>(rows[1][chroma_at]),
                              static_cast<float>(rows[2][chroma_at]), args.range);
#pragma unroll
    for (int p = 0; p < kChannels; p++) to[i].plane[p] = decode(to[i].plane[p], args.curve);
  }
}

// kCount pixels of a row, the first of which exists; those right of the picture go into the padding.
template <int kCount>
GPU_FN void put_xyb(const Ssimulacra2Plane &plane, DeviceAddress<float> xyb, int x, int y,
                    const Colour *rgb) {
  if (y >= plane.height) return;
  Floats<kCount> out[kChannels];
#pragma unroll
  for (int i = 0; i < kCount; i++) {
    const Colour colour = ssimulacra2_xyb(rgb[i]);
#pragma unroll
    for (int c = 0; c < kChannels; c++) out[c].v[i] = colour.plane[c];
  }
#pragma unroll
  for (int c = 0; c < kChannels; c++)
    *address_cast<Floats<kCount>>(xyb + (channel_at(plane, c) + static_cast<int64_t>(y) * plane.stride + x))
         .get() = out[c];
}

GPU_FN Colour half(const Colour &top_left, const Colour &top_right, const Colour &bottom_left,
                   const Colour &bottom_right) {
  Colour out;
#pragma unroll
  for (int c = 0; c < kChannels; c++)
    out.plane[c] =
        ssimulacra2_half(top_left.plane[c], top_right.plane[c], bottom_left.plane[c], bottom_right.plane[c]);
  return out;
}

// Scales 0 to 2 of 4x4 pixels from (x, y) on, of which the first exists; gives the pixel of scale 2.
template <class Sample>
GPU_FN Colour fine_scales(const Ssimulacra2ColourArgs &args, const Ssimulacra2Source &source, int x, int y) {
  const Ssimulacra2Layout &layout = args.layout;
  const int height = layout.scale[0].height;
  Colour halves[2][2];
#pragma unroll
  for (int j = 0; j < 2; j++) {
    Colour top[4], bottom[4];
    const int row = smaller(y + 2 * j, height - 1);
    read_colours<Sample, 4>(args, source, x, row, top);
    put_xyb<4>(layout.scale[0], source.xyb, x, y + 2 * j, top);
    read_colours<Sample, 4>(args, source, x, smaller(row + 1, height - 1), bottom);
    put_xyb<4>(layout.scale[0], source.xyb, x, y + 2 * j + 1, bottom);
#pragma unroll
    for (int i = 0; i < 2; i++)
      halves[j][i] = half(top[2 * i], top[2 * i + 1], bottom[2 * i], bottom[2 * i + 1]);
  }
  if (layout.scales < 2) return halves[0][0];
  const Ssimulacra2Plane &plane = layout.scale[1];
  x /= 2;
  y /= 2;
  if (x + 1 >= plane.width) {
    halves[0][1] = halves[0][0];
    halves[1][1] = halves[1][0];
  }
  if (y + 1 >= plane.height) {
    halves[1][0] = halves[0][0];
    halves[1][1] = halves[0][1];
  }
#pragma unroll
  for (int j = 0; j < 2; j++) put_xyb<2>(plane, source.xyb, x, y + j, halves[j]);
  const Colour out = half(halves[0][0], halves[0][1], halves[1][0], halves[1][1]);
  if (layout.scales > 2) put_xyb<1>(layout.scale[2], source.xyb, x / 2, y / 2, &out);
  return out;
}

// All scales of a tile. Block (x, y, z): tile, picture z.
template <class Sample>
GPU_FN void do_colours(const Ssimulacra2ColourArgs &args) {
  constexpr int kSide = kSsimulacra2ColourSide;
  GPU_SHARED Colour tile[2][kSide * kSide];  // linear RGB of one scale and the next in turn
  const Ssimulacra2Source &source = args.sources[blockIdx.z];
  const Ssimulacra2Layout &layout = args.layout;
  const int thread = static_cast<int>(threadIdx.x);
  const int tile_x = static_cast<int>(blockIdx.x) * kSide, tile_y = static_cast<int>(blockIdx.y) * kSide;
  const int x = (tile_x + thread % kSide) * 4, y = (tile_y + thread / kSide) * 4;
  if (x < layout.scale[0].width && y < layout.scale[0].height)
    tile[0][thread] = fine_scales<Sample>(args, source, x, y);
#pragma unroll 1
  for (int s = 3; s < layout.scales; s++) {
    const int shift = s - 2, side = kSide >> shift;
    const Colour *from = tile[s % 2 == 1 ? 0 : 1];
    gpu_sync();
    if (thread >= side * side) continue;
    const Ssimulacra2Plane &finer = layout.scale[s - 1], &plane = layout.scale[s];
    const int i = thread % side, j = thread / side;
    const int left = 2 * i, top = 2 * j, at_x = (tile_x >> shift) + i, at_y = (tile_y >> shift) + j;
    if (at_x >= plane.width || at_y >= plane.height) continue;
    const int right = 2 * at_x + 1 < finer.width ? left + 1 : left,
              bottom = 2 * at_y + 1 < finer.height ? top + 1 : top;
    const Colour out = half(from[top * 2 * side + left], from[top * 2 * side + right],
                            from[bottom * 2 * side + left], from[bottom * 2 * side + right]);
    put_xyb<1>(plane, source.xyb, at_x, at_y, &out);
    tile[s % 2 == 1 ? 1 : 0][thread] = out;
  }
}

// ---- Blurs ----------------------------------------------------------------------------------------------------------

struct PlaneOfBlock {
  const Ssimulacra2Plane &plane;
  const Ssimulacra2Plane::Channel &own;
  int channel, block;  // number in the plane
};

// first(channel): number of the first block.
template <class First>
GPU_FN PlaneOfBlock plane_of_block(const Ssimulacra2Layout &layout, const First &first) {
  const int block = static_cast<int>(blockIdx.x);
  int number = layout.scales * kChannels - 1;
  while (block < first(layout.scale[number / kChannels].channel[number % kChannels])) number--;
  const Ssimulacra2Plane &plane = layout.scale[number / kChannels];
  const Ssimulacra2Plane::Channel &own = plane.channel[number % kChannels];
  return {plane, own, number % kChannels, block - first(own)};
}

GPU_FN DeviceAddress<float> line_of(const Ssimulacra2Pair &pair, const PlaneOfBlock &p, int line) {
  const int64_t plane_floats = ssimulacra2_plane_floats(p.plane);
  return line < kRefLines ? pair.ref_lines + (p.own.ref_lines + line * plane_floats)
                          : pair.lines + (p.own.lines + (line - kRefLines) * plane_floats);
}

// Along rows. Block (x, 0, z): rows of a plane, pair z; a thread has a row of a line. Threads bring the inputs of a tile of
// columns together, go along their rows, and write the outputs together. Outputs are kAhead columns behind inputs.
// kFurther: the lines of the reference come with another pair.
template <bool kFurther, bool kAlone>
class RowBlur {
 public:
  static constexpr int kThreads = kFurther ? kSsimulacra2MoreThreads : kSsimulacra2BlurThreads;
  static constexpr int kCount = ssimulacra2_lines(kAlone, kFurther), kRows = kThreads / kCount;
  static constexpr int kTile = kSsimulacra2Tile, kChunks = kTile / 4, kPitch = kTile + 1;
  // Pictures that are read. Outputs of their own samples lie where inputs were: the threads that bring inputs write the
  // outputs from there before.
  static constexpr int kInputs = kAlone ? kCount : 2, kFirstInput = 2 - kInputs;
  static constexpr int kSharedFloats = (kInputs + (kAlone ? 0 : kCount)) * kRows * kPitch;
  static_assert(kAhead % 4 == 0);  // outputs are whole chunks of four, too

  GPU_FN RowBlur(const Ssimulacra2Pair &pair, const PlaneOfBlock &of, float *shared)
      : pair_(pair),
        of_(of),
        in_(shared),
        out_(kAlone ? shared : shared + kInputs * kRows * kPitch),
        first_(of.block * kRows),
        chunk_(static_cast<int>(threadIdx.x) % kChunks * 4),
        chunk_row_(static_cast<int>(threadIdx.x) / kChunks),
        chunk_at_(static_cast<int64_t>(first_ + chunk_row_) * of.plane.stride + chunk_) {}

  GPU_FN void run() {
    const int thread = static_cast<int>(threadIdx.x), number = thread / kRows, row = thread % kRows;
    const int line = line_number(number), width = of_.plane.width;
    const float *a = in_ + row * kPitch, *b = a + (kInputs - 1) * kRows * kPitch,
                *one = line < kLineB ? a : b;
    float *const to = out_ + thread * kPitch;
    constexpr int kBegin = kAhead - kTile;  // outputs begin with a whole tile
    load(kBegin);
#pragma unroll 1
    for (int x = kBegin; x < width + kAhead; x += kTile) {
      for_each_row([&](int turn, int r, int64_t) {
#pragma unroll
        for (int p = 0; p < kInputs; p++)
#pragma unroll
          for (int i = 0; i < 4; i++) in_[(p * kRows + r) * kPitch + chunk_ + i] = inputs_[turn][p].v[i];
      });
      gpu_sync();
      load(x + kTile);  // they are on their way meanwhile
      if (!kAlone && line == kLineAB)
        blur(to, [&](int i) { return a[i] * b[i]; });
      else if (!kAlone && (line == kLineAA || line == kLineBB))
        blur(to, [&](int i) { return one[i] * one[i]; });
      else
        blur(to, [&](int i) { return one[i]; });
      gpu_sync();
      const int column = x - kAhead + chunk_;
      if (column >= 0 && column < width)
        for_each_row([&](int, int r, int64_t own) {
#pragma unroll
          for (int n = 0; n < kCount; n++) {
            const float *from = out_ + (n * kRows + r) * kPitch + chunk_;
            *address_cast<Floats<4>>(line_of(pair_, of_, line_number(n)) + (own + x - kAhead)).get() = {
                {from[0], from[1], from[2], from[3]}};
          }
        });
    }
  }

 private:
  static constexpr int kRowsAtOnce = kThreads / kChunks, kTurns = (kRows + kRowsAtOnce - 1) / kRowsAtOnce;

  GPU_FN static constexpr int line_number(int n) {
    return kAlone ? (n < kCount - 1 ? kLineA : kLineB) : n + (kFurther ? kRefLines : 0);
  }

  // The rows of which the thread brings a chunk: turn, row of the block, and where it lies in the plane.
  template <class Work>
  GPU_FN void for_each_row(const Work &work) {
#pragma unroll
    for (int turn = 0; turn < kTurns; turn++) {
      const int r = chunk_row_ + turn * kRowsAtOnce;
      if (r < kRows && first_ + r < of_.plane.height)
        work(turn, r, chunk_at_ + static_cast<int64_t>(turn * kRowsAtOnce) * of_.plane.stride);
    }
  }

  GPU_FN void load(int x) {
    const int column = x + chunk_, width = of_.plane.width;
    const int64_t at = channel_at(of_.plane, of_.channel);
    for_each_row([&](int turn, int, int64_t own) {
#pragma unroll
      for (int p = 0; p < kInputs; p++) {
        const auto from = (p + kFirstInput == 0 ? pair_.ref : pair_.dist) + (at + own + x);
        Floats<4> &to = inputs_[turn][p];
        if (column >= 0 && column + 4 <= width) {
          to = *address_cast<const Floats<4>>(from).get();
        } else {
#pragma unroll
          for (int i = 0; i < 4; i++) to.v[i] = column >= 0 && column + i < width ? *(from + i).get() : 0.0f;
        }
      }
    });
  }

  template <class Input>
  GPU_FN void blur(float *to, const Input &input) {
#pragma unroll
    for (int i = 0; i < kTile; i++) {
      value_[kWindow + i] = input(i);
      to[i] = ssimulacra2_blur_step(state_, value_[i], value_[kWindow + i]);
    }
#pragma unroll
    for (int i = 0; i < kWindow; i++) value_[i] = value_[kTile + i];
  }

  const Ssimulacra2Pair &pair_;
  const PlaneOfBlock of_;
  float *const in_, *const out_;  // [picture or line][row][kPitch]
  const int first_, chunk_, chunk_row_;
  const int64_t chunk_at_;
  Blur state_ = {};
  float value_[kWindow + kTile] = {};  // the inputs of the last steps, then those of the tile
  Floats<4> inputs_[kTurns][kInputs] = {};
};

template <bool kFurther>
GPU_FN void blur_rows(const Ssimulacra2PairArgs &args) {
  using All = RowBlur<kFurther, false>;
  using Alone = RowBlur<kFurther, true>;
  GPU_SHARED float shared[larger(All::kSharedFloats, Alone::kSharedFloats)];
  const Ssimulacra2Pair &pair = args.pairs[blockIdx.z];
  const PlaneOfBlock of = plane_of_block(
      args.layout, [](auto &channel) { return kFurther ? channel.further_row_block : channel.row_block; });
  if (of.own.artefacts_alone)
    Alone(pair, of, shared).run();
  else
    All(pair, of, shared).run();
}

// Along columns, and the maps. Block (x, 0, z): columns of a plane, pair z. At a step threads blur as many rows of their
// column of a line as there are between the oldest and the newest input; then each takes pixels; then each of some adds up
// the rows of a map.
struct ColumnMemory {
  float mean[kWindow * kSsimulacra2BlurThreads];    // [line][row][column]
  double map[kMaps * kWindow * kSsimulacra2Group];  // [map][row][column]
};

template <bool kAlone>
GPU_FN void blur_columns(const Ssimulacra2Pair &pair, const PlaneOfBlock &of, ColumnMemory &memory) {
  constexpr int kRows = kWindow, kCount = ssimulacra2_lines(kAlone, false),
                kColumns = kSsimulacra2BlurThreads / kCount, kSums = kAlone ? 1 : kMaps;
  static_assert(kRows % kCount == 0 && kSums <= kCount && kSums * kColumns <= kMaps * kSsimulacra2Group);
  const Ssimulacra2Plane &plane = of.plane;
  const int thread = static_cast<int>(threadIdx.x);
  // Which line, which of kCount pixels, and which map.
  const int number = thread / kColumns, column = thread % kColumns;
  const int x = of.block * kColumns + column, inside = smaller(x, plane.width - 1);
  const int height = plane.height;
  const int64_t at = channel_at(plane, of.channel);
  const DeviceAddress<const float> a = pair.ref + (at + inside), b = pair.dist + (at + inside);
  const DeviceAddress<float> from = line_of(pair, of, kAlone ? number * kLineB : number) + inside;
  const auto mean = [&](int line, int r) -> float & {
    return memory.mean[(line * kRows + r) * kColumns + column];
  };
  const auto map = [&](int k, int r) -> double & { return memory.map[(k * kRows + r) * kColumns + column]; };

  Blur state = {};
  float oldest[kRows] = {}, newest[kRows];
  double sum = 0, sum4 = 0;
  const auto load = [&](int y) {
    DeviceAddress<float> row = from + static_cast<int64_t>(y) * plane.stride;
#pragma unroll
    for (int r = 0; r < kRows; r++) {
      newest[r] = y + r < height ? *row.get() : 0.0f;
      row = row + plane.stride;
    }
  };
  load(0);
#pragma unroll 1
  for (int y = 0; y < height + kAhead; y += kRows) {
#pragma unroll
    for (int r = 0; r < kRows; r++) {
      mean(number, r) = ssimulacra2_blur_step(state, oldest[r], newest[r]);
      oldest[r] = newest[r];
    }
    gpu_sync();
#pragma unroll 2
    for (int i = 0; i < kRows / kCount; i++) {
      const int r = number + i * kCount, row = y - kAhead + r;
      Ssimulacra2Values<double> maps = {};
      if (row >= 0 && row < height) {
        const int64_t pixel = static_cast<int64_t>(row) * plane.stride;
        const float of_a = *(a + pixel).get(), of_b = *(b + pixel).get();
        if constexpr (kAlone)
          maps.map[0] = ssimulacra2_artefacts(of_a, of_b, mean(0, r), mean(1, r));
        else
          maps =
              ssimulacra2_maps(Ssimulacra2Pixel<float>{of_a, of_b, mean(kLineA, r), mean(kLineB, r),
                                                       mean(kLineAA, r), mean(kLineBB, r), mean(kLineAB, r)});
      }
#pragma unroll
      for (int k = 0; k < kSums; k++) map(k, r) = maps.map[k];
    }
    load(y + kRows);
    gpu_sync();
    if (number < kSums) {
#pragma unroll
      for (int r = 0; r < kRows; r++) {
        const double v = map(number, r);
        sum += v;
        sum4 += ssimulacra2_power4(v);
      }
    }
  }
  if (number >= kSums || x >= plane.width) return;
  const int k = kAlone ? kSsimulacra2Artefacts : number;
  const DeviceAddress<double> to =
      pair.columns + (plane.columns + (of.channel * 2 * kMaps + k) * plane.stride + x);
  *to.get() = sum;
  *(to + kMaps * plane.stride).get() = sum4;
}

}  // namespace

GPU_KERNEL void GPU_BOUNDS(kSsimulacra2ColourThreads, 3) ssimulacra2_colours_8(Ssimulacra2ColourArgs args) {
  do_colours<uint8_t>(args);
}
GPU_KERNEL void GPU_BOUNDS(kSsimulacra2ColourThreads, 3) ssimulacra2_colours_16(Ssimulacra2ColourArgs args) {
  do_colours<uint16_t>(args);
}

// Of the pairs with the first distorted picture of a frame, and with the others.
GPU_KERNEL void GPU_BOUNDS(kSsimulacra2BlurThreads, 3) ssimulacra2_rows(Ssimulacra2PairArgs args) {
  blur_rows<false>(args);
}
GPU_KERNEL void GPU_BOUNDS(kSsimulacra2MoreThreads, 4) ssimulacra2_more_rows(Ssimulacra2PairArgs args) {
  blur_rows<true>(args);
}

GPU_KERNEL void GPU_BOUNDS(kSsimulacra2BlurThreads, 3) ssimulacra2_columns(Ssimulacra2PairArgs args) {
  GPU_SHARED ColumnMemory memory;
  const Ssimulacra2Pair &pair = args.pairs[blockIdx.z];
  const PlaneOfBlock of = plane_of_block(args.layout, [](auto &channel) { return channel.column_block; });
  if (of.own.artefacts_alone)
    blur_columns<true>(pair, of, memory);
  else
    blur_columns<false>(pair, of, memory);
}

// Block (i, s, z): sum i of scale s, pair z.
GPU_KERNEL void GPU_BOUNDS(kSumLanes, 8) ssimulacra2_sum(Ssimulacra2PairArgs args) {
  GPU_SHARED double lanes[kSumLanes];
  const Ssimulacra2Pair &pair = args.pairs[blockIdx.z];
  const Ssimulacra2Plane &plane = args.layout.scale[blockIdx.y];
  const int sum = static_cast<int>(blockIdx.x), lane = static_cast<int>(threadIdx.x);
  if (plane.channel[sum / (2 * kMaps)].artefacts_alone && sum % kMaps != kSsimulacra2Artefacts) return;
  const double *columns =
      (pair.columns + (plane.columns + sum * plane.stride)).get(static_cast<uint64_t>(plane.width));
  double total = 0;
  for (int x = lane; x < plane.width; x += kSumLanes) total += columns[x];
  lanes[lane] = total;
  total = gpu_lane_sum(lanes);
  if (lane == 0) *(pair.sums + static_cast<int64_t>(blockIdx.y) * kSsimulacra2ScaleSums + sum).get() = total;
}
