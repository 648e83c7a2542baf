// SSIMULACRA 2 (engine/arith/ssimulacra2.h has the definition). Recursions have no beginning but the border: a thread has
// a whole row, or a whole column, of a channel, with a dozen and more recursions at once that do not wait for each other.
// All scales, channels and pairs go along at the same time.
#include "kernels/lane_sums.h"
#include "kernels/ssimulacra2_args.h"
#include "kernels/tile.h"

using namespace vmafhip;

namespace {

constexpr int kChannels = kSsimulacra2Channels, kLines = kSsimulacra2Lines, kMaps = kSsimulacra2Maps;

using Colour = Ssimulacra2Colour<float>;
using Blur = Ssimulacra2Blur<float>;

// ---- Colours

struct alignas(8) Floats2 {
  float x, y;
};
struct alignas(16) Floats4 {
  float v[4];
};

GPU_FN DeviceAddress<float> plane_of(DeviceAddress<float> first, const Ssimulacra2Plane &plane, int channel) {
  return first + (plane.at + channel * ssimulacra2_plane_floats(plane));
}
GPU_FN DeviceAddress<const float> plane_of(DeviceAddress<const float> first, const Ssimulacra2Plane &plane,
                                           int channel) {
  return first + (plane.at + channel * ssimulacra2_plane_floats(plane));
}

GPU_FN float decode(float coded, DeviceAddress<const Ssimulacra2Piece> curve) {
  const float position = ssimulacra2_position(coded);
  const int32_t number = truncate(position);
  const Ssimulacra2Piece piece = *(curve + number).get();
  return piece.value + piece.step * (position - to_real(number));
}

template <class Sample>
GPU_FN Colour rgb_of_samples(const Ssimulacra2ColourArgs &args, const Ssimulacra2Source &source, int x,
                             int y) {
  const int chroma_x = x >> args.chroma_shift_x, chroma_y = y >> args.chroma_shift_y;
  const float luma = tile_row<Sample>(source.planes[0], y, x + 1)[x];
  const float cb = tile_row<Sample>(source.planes[1], chroma_y, chroma_x + 1)[chroma_x];
  const float cr = tile_row<Sample>(source.planes[2], chroma_y, chroma_x + 1)[chroma_x];
  Colour colour = ssimulacra2_coded(luma, cb, cr, args.range);
#pragma unroll
  for (int p = 0; p < kChannels; p++) colour.plane[p] = decode(colour.plane[p], args.curve);
  return colour;
}

GPU_FN void put_xyb(const Ssimulacra2ColourArgs &args, const Ssimulacra2Source &source, int x, int y,
                    const Colour &left, const Colour &right) {
  const Colour a = ssimulacra2_xyb(left), b = ssimulacra2_xyb(right);
#pragma unroll
  for (int c = 0; c < kChannels; c++) {
    const auto row = plane_of(source.xyb, args.from, c) + (static_cast<int64_t>(y) * args.from.stride + x);
    *address_cast<Floats2>(row).get() = {a.plane[c], b.plane[c]};
  }
}

// Block (x, y, z): columns of pairs, row y of pairs, picture z. rgb(source, x, y) is a pixel of this scale. What is right of
// an odd width goes into the padding of rows.
template <class Rgb>
GPU_FN void do_colours(const Ssimulacra2ColourArgs &args, Rgb rgb) {
  const Ssimulacra2Source &source = args.sources[blockIdx.z];
  const Ssimulacra2Plane &from = args.from;
  const int half_x = static_cast<int>(blockIdx.x) * kSsimulacra2ColourThreads + static_cast<int>(threadIdx.x),
            half_y = static_cast<int>(blockIdx.y), x = 2 * half_x, y = 2 * half_y;
  if (x >= from.width) return;
  const int right = smaller(x + 1, from.width - 1), below = smaller(y + 1, from.height - 1);
  const Colour top_left = rgb(source, x, y), top_right = rgb(source, right, y);
  const Colour bottom_left = rgb(source, x, below), bottom_right = rgb(source, right, below);
  if (args.to.width > 0) {
#pragma unroll
    for (int c = 0; c < kChannels; c++)
      *(plane_of(source.rgb, args.to, c) + (static_cast<int64_t>(half_y) * args.to.stride + half_x)).get() =
          ssimulacra2_half(top_left.plane[c], top_right.plane[c], bottom_left.plane[c],
                           bottom_right.plane[c]);
  }
  put_xyb(args, source, x, y, top_left, top_right);
  if (below > y) put_xyb(args, source, x, below, bottom_left, bottom_right);
}

template <class Sample>
GPU_FN void do_samples(const Ssimulacra2ColourArgs &args) {
  do_colours(args, [&](const Ssimulacra2Source &source, int x, int y) {
    return rgb_of_samples<Sample>(args, source, x, y);
  });
}

// ---- Blurs

// Along rows. Block (x, c, z): kSsimulacra2BlurThreads rows of a scale, channel c, pair z. Threads bring the inputs of a
// tile of columns together, go along their rows, which leaves the outputs of a row where its inputs were, and write these
// together. Outputs are kSsimulacra2Ahead columns behind inputs.
GPU_FN void blur_rows(const Ssimulacra2PairArgs &args, int scale) {
  constexpr int kThreads = kSsimulacra2BlurThreads, kTile = kSsimulacra2Tile, kWindow = kSsimulacra2Window;
  constexpr int kChunks = kTile / 4, kRowsAtOnce = kThreads / kChunks;
  static_assert(kSsimulacra2Ahead == 4);  // outputs are whole chunks of four, too
  GPU_SHARED float tile[kLines][kThreads][kTile + 1];
  const Ssimulacra2Pair &pair = args.pairs[blockIdx.z];
  const Ssimulacra2Plane &plane = args.layout.scale[scale];
  const int channel = static_cast<int>(blockIdx.y), row = static_cast<int>(threadIdx.x);
  const int first = (static_cast<int>(blockIdx.x) - plane.row_block) * kThreads;
  const int chunk = row % kChunks * 4, first_row = row / kChunks;
  const DeviceAddress<const float> from[2] = {plane_of(pair.ref, plane, channel),
                                              plane_of(pair.dist, plane, channel)};
  const int64_t plane_floats = ssimulacra2_plane_floats(plane);
  const DeviceAddress<float> to = pair.lines + (plane.at + channel * plane_floats) * kLines;

  Blur state[kLines] = {};
  // The inputs of the last steps, then those of the tile.
  float a[kWindow + kTile] = {}, b[kWindow + kTile] = {};
#pragma unroll 1
  for (int x = 0; x < plane.width + kSsimulacra2Ahead; x += kTile) {
    gpu_sync();
#pragma unroll
    for (int p = 0; p < 2; p++)
#pragma unroll
      for (int step = 0; step < kThreads / kRowsAtOnce; step++) {
        const int r = first_row + step * kRowsAtOnce;
        const auto at = from[p] + (static_cast<int64_t>(first + r) * plane.stride + x + chunk);
        Floats4 in = {};
        if (first + r < plane.height) {
          if (x + chunk + 4 <= plane.width) {
            in = *address_cast<const Floats4>(at).get();
          } else {
#pragma unroll
            for (int i = 0; i < 3; i++)
              if (x + chunk + i < plane.width) in.v[i] = *(at + i).get();
          }
        }
#pragma unroll
        for (int i = 0; i < 4; i++) tile[p][r][chunk + i] = in.v[i];
      }
    gpu_sync();
#pragma unroll
    for (int i = 0; i < kTile; i++) {
      const float a0 = a[i], b0 = b[i];
      const float a1 = a[kWindow + i] = tile[0][row][i], b1 = b[kWindow + i] = tile[1][row][i];
      tile[0][row][i] = ssimulacra2_blur_step(state[0], a0, a1);
      tile[1][row][i] = ssimulacra2_blur_step(state[1], a0 * a0, a1 * a1);
      tile[2][row][i] = ssimulacra2_blur_step(state[2], b0, b1);
      tile[3][row][i] = ssimulacra2_blur_step(state[3], b0 * b0, b1 * b1);
      tile[4][row][i] = ssimulacra2_blur_step(state[4], a0 * b0, a1 * b1);
    }
#pragma unroll
    for (int i = 0; i < kWindow; i++) {
      a[i] = a[kTile + i];
      b[i] = b[kTile + i];
    }
    gpu_sync();
    const int column = x + chunk - kSsimulacra2Ahead;
    if (column < 0 || column >= plane.width) continue;
#pragma unroll
    for (int line = 0; line < kLines; line++)
#pragma unroll
      for (int step = 0; step < kThreads / kRowsAtOnce; step++) {
        const int r = first_row + step * kRowsAtOnce;
        if (first + r >= plane.height) continue;
        const float *out = &tile[line][r][chunk];
        *address_cast<Floats4>(
             to + (line * plane_floats + static_cast<int64_t>(first + r) * plane.stride + column))
             .get() = {{out[0], out[1], out[2], out[3]}};
      }
  }
}

// Along columns, and the maps. Block (x, c, z): kSsimulacra2BlurThreads columns of a scale, channel c, pair z.
GPU_FN void blur_columns(const Ssimulacra2PairArgs &args, int scale) {
  const Ssimulacra2Pair &pair = args.pairs[blockIdx.z];
  const Ssimulacra2Plane &plane = args.layout.scale[scale];
  const int channel = static_cast<int>(blockIdx.y);
  const int x = (static_cast<int>(blockIdx.x) - plane.column_block) * kSsimulacra2BlurThreads +
                static_cast<int>(threadIdx.x);
  if (x >= plane.width) return;
  const int height = plane.height;
  const int64_t plane_floats = ssimulacra2_plane_floats(plane);
  const DeviceAddress<const float> a = plane_of(pair.ref, plane, channel) + x,
                                   b = plane_of(pair.dist, plane, channel) + x;
  const DeviceAddress<float> lines = pair.lines + ((plane.at + channel * plane_floats) * kLines + x);

  Blur state[kLines] = {};
  double sums[2 * kMaps] = {};
  // Addresses are always those of a row of the picture, so that loads need not wait for what comes before them.
#pragma unroll 2
  for (int y = 0; y < height + kSsimulacra2Ahead; y++) {
    const int64_t newest = static_cast<int64_t>(smaller(y, height - 1)) * plane.stride,
                  oldest = static_cast<int64_t>(larger(y - kSsimulacra2Window, 0)) * plane.stride,
                  out = static_cast<int64_t>(larger(y - kSsimulacra2Ahead, 0)) * plane.stride;
    float means[kLines];
#pragma unroll
    for (int line = 0; line < kLines; line++) {
      const float before = *(lines + (line * plane_floats + oldest)).get(),
                  next = *(lines + (line * plane_floats + newest)).get();
      means[line] = ssimulacra2_blur_step(state[line], y < kSsimulacra2Window ? 0.0f : before,
                                          y < height ? next : 0.0f);
    }
    const float of_a = *(a + out).get(), of_b = *(b + out).get();
    if (y < kSsimulacra2Ahead) continue;
    const auto maps = ssimulacra2_maps(
        Ssimulacra2Pixel<float>{of_a, of_b, means[0], means[2], means[1], means[3], means[4]});
#pragma unroll
    for (int k = 0; k < kMaps; k++) {
      sums[k] += maps.map[k];
      sums[kMaps + k] += ssimulacra2_power4(maps.map[k]);
    }
  }
  const DeviceAddress<double> to = pair.columns + (plane.columns + channel * 2 * kMaps * plane.stride + x);
#pragma unroll
  for (int k = 0; k < 2 * kMaps; k++) *(to + k * plane.stride).get() = sums[k];
}

}  // namespace

GPU_KERNEL void GPU_BOUNDS(kSsimulacra2ColourThreads, 8) ssimulacra2_colours_8(Ssimulacra2ColourArgs args) {
  do_samples<uint8_t>(args);
}
GPU_KERNEL void GPU_BOUNDS(kSsimulacra2ColourThreads, 8) ssimulacra2_colours_16(Ssimulacra2ColourArgs args) {
  do_samples<uint16_t>(args);
}
// Of scales but the first.
GPU_KERNEL void GPU_BOUNDS(kSsimulacra2ColourThreads, 8) ssimulacra2_colours(Ssimulacra2ColourArgs args) {
  do_colours(args, [&](const Ssimulacra2Source &source, int x, int y) {
    Colour colour;
#pragma unroll
    for (int c = 0; c < kChannels; c++)
      colour.plane[c] =
          *(plane_of(source.rgb, args.from, c) + (static_cast<int64_t>(y) * args.from.stride + x)).get();
    return colour;
  });
}

GPU_KERNEL void GPU_BOUNDS(kSsimulacra2BlurThreads, 8) ssimulacra2_rows(Ssimulacra2PairArgs args) {
  int scale = args.layout.scales - 1;
  while (static_cast<int>(blockIdx.x) < args.layout.scale[scale].row_block) scale--;
  blur_rows(args, scale);
}

GPU_KERNEL void GPU_BOUNDS(kSsimulacra2BlurThreads, 8) ssimulacra2_columns(Ssimulacra2PairArgs args) {
  int scale = args.layout.scales - 1;
  while (static_cast<int>(blockIdx.x) < args.layout.scale[scale].column_block) scale--;
  blur_columns(args, scale);
}

// Block (i, s, z): sum i of scale s, pair z.
GPU_KERNEL void GPU_BOUNDS(kSumLanes, 8) ssimulacra2_sum(Ssimulacra2PairArgs args) {
  GPU_SHARED double lanes[kSumLanes];
  const Ssimulacra2Pair &pair = args.pairs[blockIdx.z];
  const Ssimulacra2Plane &plane = args.layout.scale[blockIdx.y];
  const int sum = static_cast<int>(blockIdx.x), lane = static_cast<int>(threadIdx.x);
  const double *columns =
      (pair.columns + (plane.columns + sum * plane.stride)).get(static_cast<uint64_t>(plane.width));
  double total = 0;
  for (int x = lane; x < plane.width; x += kSumLanes) total += columns[x];
  lanes[lane] = total;
  total = gpu_lane_sum(lanes);
  if (lane == 0) *(pair.sums + static_cast<int64_t>(blockIdx.y) * kSsimulacra2ScaleSums + sum).get() = total;
}
