#include "gst/vmafhip/caps.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "gst/vmafhip/gpu_memory.h"
#include "gst/vmafhip/handles.h"
#include "gst/vmafhip/stream.h"

namespace vmafhip {
namespace {

constexpr const char *kDmaBuf = "memory:DMABuf";

// Formats that the kernel has names for (drm_fourcc.h). Without a modifier behind them they are linear.
struct DrmFormat {
  const char *drm, *plain;
};
constexpr DrmFormat kDrmFormats[] = {
    {"YU12", "I420"},      {"YV12", "YV12"},    {"NV12", "NV12"},    {"NV21", "NV21"},
    {"YU16", "Y42B"},      {"NV16", "NV16"},    {"YU24", "Y444"},    {"R8  ", "GRAY8"},
    {"P010", "P010_10LE"}, {"P012", "P012_LE"}, {"P016", "P016_LE"}, {"R16 ", "GRAY16_LE"},
};

const GstStructure *first(const GstCaps *caps) {
  return gst_caps_get_size(caps) > 0 ? gst_caps_get_structure(caps, 0) : nullptr;
}

bool is_drm(const GstCaps *caps) {
  const GstStructure *s = first(caps);
  return s && g_strcmp0(gst_structure_get_string(s, "format"), "DMA_DRM") == 0;
}

// The kernel's name of the format, or null.
const char *drm_format(const GstCaps *caps) {
  return is_drm(caps) ? gst_structure_get_string(first(caps), "drm-format") : nullptr;
}

bool has_feature(const GstCaps *caps, const char *feature) {
  return first(caps) && gst_caps_features_contains(gst_caps_get_features(caps, 0), feature);
}

}  // namespace

GstCaps *pad_caps() {
  // System memory first: who can give both is not asked for dma-bufs, which processors may read slowly.
  std::string text = GST_VIDEO_CAPS_MAKE(VMAFHIP_FORMATS) ";" GST_VIDEO_CAPS_MAKE_WITH_FEATURES(
      "memory:DMABuf", VMAFHIP_FORMATS) ";" GST_VIDEO_CAPS_MAKE_WITH_FEATURES("memory:DMABuf", "DMA_DRM");
  text += ", drm-format={";
  for (const DrmFormat &f : kDrmFormats) text += std::string(&f == kDrmFormats ? "\"" : ",\"") + f.drm + "\"";
  text += "}";
  for (const GpuMemoryKind &kind : gpu_memory_kinds())
    text += std::string(";video/x-raw(") + kind.feature +
            "),format=" VMAFHIP_FORMATS ",width=" GST_VIDEO_SIZE_RANGE ",height=" GST_VIDEO_SIZE_RANGE
            ",framerate=" GST_VIDEO_FPS_RANGE;
  return gst_caps_from_string(text.c_str());
}

bool video_info(const GstCaps *caps, GstVideoInfo &info) {
  if (!is_drm(caps)) return gst_video_info_from_caps(&info, caps);
  for (const DrmFormat &f : kDrmFormats) {
    if (g_strcmp0(f.drm, drm_format(caps)) != 0) continue;
    const CapsPtr plain(gst_caps_copy(caps));
    GstStructure *s = gst_caps_get_structure(plain.get(), 0);
    gst_structure_set(s, "format", G_TYPE_STRING, f.plain, nullptr);
    gst_structure_remove_field(s, "drm-format");
    return gst_video_info_from_caps(&info, plain.get());
  }
  return false;
}

bool in_dmabufs(const GstCaps *caps) { return has_feature(caps, kDmaBuf); }

bool takes_memory(const GstCaps *caps) {
  const auto kinds = gpu_memory_kinds();
  return in_system_memory(caps) || in_dmabufs(caps) ||
         std::any_of(kinds.begin(), kinds.end(),
                     [&](const GpuMemoryKind &kind) { return has_feature(caps, kind.feature); });
}

bool in_system_memory(const GstCaps *caps) {
  return has_feature(caps, GST_CAPS_FEATURE_MEMORY_SYSTEM_MEMORY);
}

std::optional<std::string> tiling(const GstCaps *caps) {
  const char *drm = drm_format(caps), *colon = drm ? std::strchr(drm, ':') : nullptr;
  if (!colon || std::strtoull(colon + 1, nullptr, 16) == 0) return {};  // DRM_FORMAT_MOD_LINEAR
  return colon + 1;
}

}  // namespace vmafhip
