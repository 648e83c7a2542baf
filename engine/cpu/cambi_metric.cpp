// Banding as a Metric. Compiled for the baseline.
//
//   stage 0  strips of rows of the first scale, per picture
//   stage 1  the other scales, a picture at a time
//   stage 2  tiles of columns of all scales, per picture
//   stage 3  the mean of each scale, per picture; its heat map is written
//
// The pictures are the distorted ones and, with full_ref, the reference behind them.
#include <cstring>
#include <string>
#include <vector>

#include "engine/cpu/arena.h"
#include "engine/cpu/cpu.h"
#include "engine/heat_maps.h"

namespace vmafhip {
namespace {

constexpr int kStripRows = 128;

int tiles_of(int width) { return (width + kCambiTile - 1) / kCambiTile; }

// Empty if it is the picture's own size.
std::vector<int32_t> nearest_samples(int size, int target) {
  std::vector<int32_t> samples(size == target ? 0 : static_cast<size_t>(target));
  if (!samples.empty()) cambi_nearest(size, target, samples.data());
  return samples;
}

// Where the parts of a picture lie in the frame's memory.
class Layout {
 public:
  Layout(const CambiParams &params, const CambiTarget &target, bool heat_maps)
      : target_(target),
        heat_maps_(heat_maps),
        columns_(nearest_samples(params.width, target.width)),
        rows_(nearest_samples(params.height, target.height)) {
    // Either table or none: a plane's columns and rows are taken alike.
    if (columns_.empty() != rows_.empty()) {
      std::vector<int32_t> &all = columns_.empty() ? columns_ : rows_;
      for (int i = 0; i < (columns_.empty() ? target.width : target.height); i++) all.push_back(i);
    }
    for (int scale = 0; scale < kCambiScales; scale++) {
      width_[scale] = cambi_scale_size(target.width, scale, params.half);
      height_[scale] = cambi_scale_size(target.height, scale, params.half);
    }
    Arena arena(nullptr);
    place(&arena, nullptr, nullptr, nullptr);
    bytes_ = arena.used();
  }

  size_t bytes() const { return bytes_; }
  int height() const { return height_[0]; }
  int tiles() const {
    int count = 0;
    for (const int width : width_) count += tiles_of(width);
    return count;
  }
  int tiles(int scale) const { return tiles_of(width_[scale]); }
  int first_tile(int scale) const {
    int count = 0;
    for (int s = 0; s < scale; s++) count += tiles(s);
    return count;
  }
  int64_t top(int scale, double topk) const { return cambi_top(topk, width_[scale], height_[scale]); }

  CambiPicture picture(std::byte *memory) const {
    CambiPicture picture;
    Arena arena(memory);
    place(&arena, &picture, nullptr, nullptr);
    return picture;
  }
  // Of all tiles' CambiTile.
  size_t table_bytes() const {
    Arena arena(nullptr);
    arena.take<CambiTile>(static_cast<size_t>(tiles()));
    return arena.used();
  }
  // `out` has room for all tiles, `maps` for all scales.
  void tiles(std::byte *memory, CambiTile *out, uint16_t **maps) const {
    Arena arena(memory);
    place(&arena, nullptr, out, maps);
  }
  size_t samples(int scale) const {
    return static_cast<size_t>(width_[scale]) * static_cast<size_t>(height_[scale]);
  }

 private:
  void place(Arena *arena, CambiPicture *picture, CambiTile *tiles, uint16_t **maps) const {
    if (picture) {
      picture->target = target_;
      picture->columns = columns_.empty() ? nullptr : columns_.data();
      picture->rows = rows_.empty() ? nullptr : rows_.data();
    }
    for (int scale = 0; scale < kCambiScales; scale++) {
      // An odd number of cache lines, so that rows of a tile do not meet in the same ones.
      const ptrdiff_t stride = ((kCambiBefore + width_[scale] + kCambiBehind + 31) / 32 | 1) * 32;
      uint16_t *words =
          arena->take<uint16_t>(static_cast<size_t>(stride) * static_cast<size_t>(height_[scale]));
      if (picture) picture->plane[scale] = {words + kCambiBefore, stride, width_[scale], height_[scale]};
    }
    for (int scale = 0; scale < kCambiScales; scale++)
      for (int t = 0; t < tiles_of(width_[scale]); t++) {
        CambiTile tile;
        tile.values =
            arena->take<float>(static_cast<size_t>(kCambiTile) * static_cast<size_t>(height_[scale]));
        tile.found = arena->take<CambiTile::Found>(1);
        if (tiles) *tiles++ = tile;
      }
    for (int scale = 0; scale < kCambiScales; scale++) {
      uint16_t *map = heat_maps_ ? arena->take<uint16_t>(samples(scale)) : nullptr;
      if (maps) maps[scale] = map;
    }
  }

  CambiTarget target_;
  bool heat_maps_;
  std::vector<int32_t> columns_, rows_;
  int width_[kCambiScales], height_[kCambiScales];
  size_t bytes_ = 0;
};

// libvmaf's names: sizes are halved from the target's even if the first scale is half of it already. Further
// distorted pictures have their own.
std::vector<std::string> heat_map_names(const CambiParams &params, int distorted) {
  std::vector<std::string> names;
  for (int d = 0; d < distorted; d++)
    for (int scale = 0; scale < kCambiScales; scale++)
      names.push_back("cambi_heatmap_scale_" + std::to_string(scale) + "_" +
                      std::to_string(cambi_scale_size(params.enc.width, scale, false)) + "x" +
                      std::to_string(cambi_scale_size(params.enc.height, scale, false)) + "_16b" +
                      (d > 0 ? "_dist_" + std::to_string(d) : "") + ".gray");
  return names;
}

class CpuCambi final : public Metric {
 public:
  // `heat_maps`: their folder, or empty.
  CpuCambi(const CpuKernels &kernels, const CambiParams &params, int distorted, const std::string &heat_maps)
      : kernels_(*kernels.cambi),
        params_(params),
        distorted_(distorted),
        enc_(params, params.enc, !heat_maps.empty()),
        src_(params, params.src, false) {
    if (!heat_maps.empty())
      heat_maps_ = std::make_unique<HeatMaps>(heat_maps, heat_map_names(params, distorted));
  }

  int stages() const override { return 4; }
  int strips(int stage) const override {
    return distorted_ * strips(enc_, stage) + (params_.full_ref ? strips(src_, stage) : 0);
  }
  size_t scratch_bytes() const override {
    const int width = params_.full_ref ? larger(params_.enc.width, params_.src.width) : params_.enc.width;
    return kernels_.scratch_bytes(params_, width) + larger(enc_.table_bytes(), src_.table_bytes());
  }
  size_t frame_bytes() const override {
    return static_cast<size_t>(distorted_) * enc_.bytes() + (params_.full_ref ? src_.bytes() : 0);
  }

  void measure(const FrameView &frame, int stage, int strip, std::byte *frame_memory, std::byte *scratch,
               std::byte *partial) const override {
    const int each = strips(enc_, stage), number = smaller(strip / each, distorted_);
    const bool is_ref = number == distorted_;
    const Layout &layout = is_ref ? src_ : enc_;
    strip -= number * each;
    std::byte *memory = frame_memory + static_cast<size_t>(number) * enc_.bytes();
    const PlaneView &view = is_ref ? frame.ref[0] : frame.dist[static_cast<size_t>(number)][0];

    std::memset(partial, 0, static_cast<size_t>(distorted_) * sizeof(CambiSums));
    const CambiPicture picture = layout.picture(memory);
    if (stage == 0) {
      const int first = strip * kStripRows;
      kernels_.prepare(params_, view, picture, first, smaller(first + kStripRows, layout.height()), scratch);
    } else if (stage == 1) {
      kernels_.scales(picture, scratch);
    } else {
      // Before what the kernels use.
      auto *tiles = reinterpret_cast<CambiTile *>(scratch);
      scratch += layout.table_bytes();
      uint16_t *maps[kCambiScales];
      layout.tiles(memory, tiles, maps);
      if (stage == 2) {
        int scale = 0;
        while (scale + 1 < kCambiScales && strip >= layout.first_tile(scale + 1)) ++scale;
        const int column = (strip - layout.first_tile(scale)) * kCambiTile;
        kernels_.tile(params_, picture, scale, column, tiles[strip], maps[scale], scratch);
      } else {
        const double mean = kernels_.mean(tiles + layout.first_tile(strip), layout.tiles(strip),
                                          layout.top(strip, params_.topk), scratch);
        put_mean(mean, number, strip, partial);
        if (heat_maps_ && !is_ref)
          heat_maps_->write(static_cast<size_t>(number * kCambiScales + strip), frame.index, maps[strip],
                            layout.samples(strip));
      }
    }
  }
  Status status() const override { return heat_maps_ ? heat_maps_->status() : Status(); }

 private:
  static int strips(const Layout &layout, int stage) {
    switch (stage) {
      case 0:
        return (layout.height() + kStripRows - 1) / kStripRows;
      case 1:
        return 1;
      case 2:
        return layout.tiles();
      default:
        return kCambiScales;
    }
  }

  // The reference's belongs to every distorted picture.
  void put_mean(double mean, int number, int scale, std::byte *partial) const {
    for (int d = 0; d < distorted_; d++) {
      CambiSums sums = {};
      if (number == distorted_)
        sums.src[scale] = mean;
      else if (number == d)
        sums.enc[scale] = mean;
      std::memcpy(partial + static_cast<size_t>(d) * sizeof sums, &sums, sizeof sums);
    }
  }

  const CambiKernels &kernels_;
  const CambiParams params_;
  const int distorted_;
  const Layout enc_, src_;
  std::unique_ptr<HeatMaps> heat_maps_;
};

}  // namespace

std::unique_ptr<Metric> make_cpu_cambi(const CpuKernels &kernels, const CambiParams &params,
                                       const PictureFormat &, int distorted, const std::string &heat_maps) {
  return std::make_unique<CpuCambi>(kernels, params, distorted, heat_maps);
}

}  // namespace vmafhip
