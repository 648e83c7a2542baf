// What the pads take and give: formats, and the kinds of memory that pictures come in. Dma-bufs have a feature of their
// own (memory:DMABuf), with a plain format or, from GStreamer 1.24 on, format=DMA_DRM and the kernel's name of it in
// drm-format. Both are text, and are read here whatever GStreamer this was built with.
#pragma once
#include <gst/video/video.h>

#include <optional>
#include <string>

namespace vmafhip {

GstCaps *pad_caps();  // of all pads' templates

// gst_video_info_from_caps(); of format=DMA_DRM that of the plain format with the same samples, if its layout is linear.
bool video_info(const GstCaps *caps, GstVideoInfo &info);

bool in_dmabufs(const GstCaps *caps);  // whether they say that memory is
bool in_system_memory(const GstCaps *caps);
bool takes_memory(const GstCaps *caps);  // of the kind that they name

// How the rows of such pictures are laid out (a modifier, e.g. "0x0100000000000002"), if they are not one behind the other.
std::optional<std::string> tiling(const GstCaps *caps);

}  // namespace vmafhip
