#include "gst/vmafhip/picture_watch.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace vmafhip {
namespace {

Scan scan_of(const GstBuffer *buffer, const GstVideoInfo &info, const Rect &part) {
  const auto mode = GST_VIDEO_INFO_INTERLACE_MODE(&info);
  if (mode == GST_VIDEO_INTERLACE_MODE_PROGRESSIVE) return Scan::progressive;
  if (mode == GST_VIDEO_INTERLACE_MODE_MIXED &&
      !GST_BUFFER_FLAG_IS_SET(buffer, GST_VIDEO_BUFFER_FLAG_INTERLACED))
    return Scan::progressive;
  const auto order = GST_VIDEO_INFO_FIELD_ORDER(&info);
  const bool top_first = order == GST_VIDEO_FIELD_ORDER_UNKNOWN
                             ? GST_BUFFER_FLAG_IS_SET(buffer, GST_VIDEO_BUFFER_FLAG_TFF)
                             : order == GST_VIDEO_FIELD_ORDER_TOP_FIELD_FIRST;
  // Without its first row, a picture's top field is what was the bottom one.
  return top_first == (part.y % 2 == 0) ? Scan::top_first : Scan::bottom_first;
}

// Caps may carry any number, which GStreamer stores as it is; one that has no meaning is unknown (0).
template <class Enum>
Enum known(const Enum &stored, GType type) {
  int value;
  static_assert(sizeof(value) == sizeof(stored));
  std::memcpy(&value, &stored, sizeof(value));
  auto *values = static_cast<GEnumClass *>(g_type_class_ref(type));
  const bool has_meaning = g_enum_get_value(values, value);
  g_type_class_unref(values);
  return has_meaning ? Enum(value) : Enum(0);
}

std::string nick(GType type, int value) {
  auto *values = static_cast<GEnumClass *>(g_type_class_ref(type));
  const GEnumValue *found = g_enum_get_value(values, value);
  std::string text = found ? found->value_nick : std::to_string(value);
  g_type_class_unref(values);
  return text;
}

std::string name(Scan scan) {
  return scan == Scan::progressive ? "progressive"
         : scan == Scan::top_first ? "interlaced, top field first"
                                   : "interlaced, bottom field first";
}
std::string name(GstVideoColorRange range) {
  return range == GST_VIDEO_COLOR_RANGE_0_255 ? "full (0-255)" : "limited (16-235)";
}
std::string name(GstVideoColorMatrix matrix) { return nick(GST_TYPE_VIDEO_COLOR_MATRIX, matrix); }
std::string name(GstVideoTransferFunction f) {
  return (f == GST_VIDEO_TRANSFER_SMPTE2084      ? "PQ, "
          : f == GST_VIDEO_TRANSFER_ARIB_STD_B67 ? "HLG, "
                                                 : "") +
         nick(GST_TYPE_VIDEO_TRANSFER_FUNCTION, f);
}
std::string name(GstVideoColorPrimaries primaries) { return nick(GST_TYPE_VIDEO_COLOR_PRIMARIES, primaries); }
std::string ratio(const Look &look) { return std::to_string(look.par_n) + "/" + std::to_string(look.par_d); }

std::string both(const std::string &ref, const std::string &dist) {
  return ": " + ref + " on ref_sink, " + dist + " on dist_sink";
}

// Whether the whole pictures have different shapes on the screen; those of different sizes are scaled onto each
// other, and their pixels must differ.
bool shapes_differ(const Look &ref, const Look &dist) {
  if (!ref.par_d || !dist.par_d) return false;
  const double r = double(ref.par_n) / ref.par_d, d = double(dist.par_n) / dist.par_d;
  if (r == d) return false;
  if (ref.part.width == dist.part.width && ref.part.height == dist.part.height) return true;
  // Shown at the height of the reference, the widths; sizes are whole samples.
  const double ref_width = ref.part.width * r;
  const double dist_width = dist.part.width * d * ref.part.height / dist.part.height;
  return std::abs(ref_width - dist_width) > 2 * std::max(r, d * ref.part.height / dist.part.height);
}

bool hdr(const Look &look) {
  return look.transfer == GST_VIDEO_TRANSFER_SMPTE2084 || look.transfer == GST_VIDEO_TRANSFER_ARIB_STD_B67;
}

constexpr const char *kConvert =
    "Convert one stream to the other's (videoconvert before the pad, colorimetry in its caps); if the caps "
    "are wrong, "
    "correct them (capssetter).";

void remark_colour(const Look &ref, const Look &dist, std::vector<Remark> &out) {
  if (ref.range && dist.range && ref.range != dist.range)
    out.push_back(
        {"Sample ranges differ" + both(name(ref.range), name(dist.range)),
         std::string("Samples are compared as they are: the same picture scores as if its contrast and "
                     "brightness had been changed. ") +
             kConvert});
  if (!ref.gray && !dist.gray && ref.matrix && dist.matrix && ref.matrix != dist.matrix)
    out.push_back({"Colour matrices differ" + both(name(ref.matrix), name(dist.matrix)),
                   std::string("Luma of the same colours differs, and counts as distortion wherever there is "
                               "colour. ") +
                       kConvert});
  if (ref.transfer && dist.transfer &&
      !gst_video_transfer_function_is_equivalent(ref.transfer, guint(ref.depth), dist.transfer,
                                                 guint(dist.depth)))
    out.push_back({"Transfer functions differ" + both(name(ref.transfer), name(dist.transfer)),
                   std::string("The same light has different sample values, and the difference counts as "
                               "distortion. ") +
                       kConvert});
  if (!ref.gray && !dist.gray && ref.primaries && dist.primaries &&
      !gst_video_color_primaries_is_equivalent(ref.primaries, dist.primaries))
    out.push_back({"Colour primaries differ" + both(name(ref.primaries), name(dist.primaries)),
                   std::string("The same colours have different sample values, and the difference counts as "
                               "distortion. ") +
                       kConvert});
}

}  // namespace

Look look_at(const GstBuffer *buffer, const Stream &stream, const Rect &part) {
  Look look;
  const GstVideoInfo &info = stream.info;
  look.part = part;
  look.depth = int(GST_VIDEO_FORMAT_INFO_DEPTH(info.finfo, 0));
  look.gray = GST_VIDEO_INFO_N_COMPONENTS(&info) == 1;
  look.scan = scan_of(buffer, info, part);
  if (!stream.caps) return look;
  const GstStructure *caps = gst_caps_get_structure(stream.caps.get(), 0);
  gst_structure_get_fraction(caps, "pixel-aspect-ratio", &look.par_n, &look.par_d);
  GstVideoColorimetry color;
  const char *text = gst_structure_get_string(caps, "colorimetry");
  if (!text || !gst_video_colorimetry_from_string(&color, text)) return look;
  look.range = known(color.range, GST_TYPE_VIDEO_COLOR_RANGE);
  look.matrix = known(color.matrix, GST_TYPE_VIDEO_COLOR_MATRIX);
  look.transfer = known(color.transfer, GST_TYPE_VIDEO_TRANSFER_FUNCTION);
  look.primaries = known(color.primaries, GST_TYPE_VIDEO_COLOR_PRIMARIES);
  return look;
}

Status PictureWatch::check(const Look &ref, const Look &dist, std::vector<Remark> &remarks) {
  if (checked_ && ref == ref_ && dist == dist_) return {};
  if ((ref.scan == Scan::progressive) != (dist.scan == Scan::progressive))
    return Status(
        Code::unsupported,
        "Progressive and interlaced pictures cannot be compared" + both(name(ref.scan), name(dist.scan)) +
            ". Deinterlace the interlaced stream (deinterlace before its pad), or correct interlace-mode "
            "in the caps that are wrong (capssetter)");
  ref_ = ref, dist_ = dist;
  checked_ = true;
  std::vector<Remark> all;
  if (ref.scan != dist.scan)
    all.push_back(
        {"Field orders differ" + both(name(ref.scan), name(dist.scan)),
         "Frames are scored as they are, both fields in one picture: scores are of use if the order is "
         "wrongly flagged, not if lines of different moments are compared."});
  if (ref.scan != Scan::progressive)
    all.push_back(
        {"Both streams are interlaced: frames are scored as they are, both fields in one picture",
         "The models were made for progressive pictures, and combed edges of what moves weigh in them. "
         "Deinterlace both streams alike (deinterlace) for scores on the models' scale."});
  if (ref.scan != Scan::progressive && ref.part.height != dist.part.height)
    all.push_back(
        {"Interlaced pictures are scaled in height as frames, which mixes their fields",
         "Scores mean little where something moves. Deinterlace both streams alike (deinterlace)."});
  if (shapes_differ(ref, dist))
    all.push_back(
        {"Pixel aspect ratios differ" + both(ratio(ref), ratio(dist)),
         "Samples are compared one by one, so a picture is compared with one of another shape. Bring both "
         "to one ratio (videoscale, pixel-aspect-ratio in its caps); if the caps are wrong, correct them "
         "(capssetter)."});
  remark_colour(ref, dist, all);
  if (models_ && (hdr(ref) || hdr(dist))) {
    const Look &first = hdr(ref) ? ref : dist;
    all.push_back(
        {std::string(hdr(ref) && hdr(dist) ? "ref_sink and dist_sink carry"
                     : hdr(ref)            ? "ref_sink carries"
                                           : "dist_sink carries") +
             " HDR video (" + name(first.transfer) + "), which the models were not made for",
         "VMAF's models were trained on SDR video: their scores of PQ and HLG pictures are not on their "
         "scale. Compare them with each other only, or bring both streams to SDR."});
  }
  for (Remark &remark : all)
    if (said_.size() < 32 && said_.insert(remark.text).second) remarks.push_back(std::move(remark));
  return {};
}

}  // namespace vmafhip
