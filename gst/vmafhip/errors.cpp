#include "gst/vmafhip/errors.h"

#include "gst/vmafhip/caps.h"
#include "gst/vmafhip/enums.h"
#include "gst/vmafhip/handles.h"
#include "gst/vmafhip/log.h"

#define GST_CAT_DEFAULT vmafhip_debug

namespace vmafhip {

void post_error(GstElement *element, const Status &status) {
  const char *text = status.message().c_str();
  switch (status.code()) {
    case Code::not_found:
      GST_ELEMENT_ERROR(element, RESOURCE, NOT_FOUND, ("%s", text), (nullptr));
      break;
    case Code::unsupported:
      GST_ELEMENT_ERROR(element, STREAM, FORMAT, ("%s", text), (nullptr));
      break;
    case Code::io:
      GST_ELEMENT_ERROR(element, RESOURCE, READ, ("%s", text), (nullptr));
      break;
    case Code::resource:
      GST_ELEMENT_ERROR(element, RESOURCE, NO_SPACE_LEFT, ("%s", text), (nullptr));
      break;
    default:
      GST_ELEMENT_ERROR(element, LIBRARY, SETTINGS, ("%s", text), (nullptr));
      break;
  }
}

// ---- Frames that come, and frames that do not --------------------------------------------------

void post_untimed(GstElement *element, GstPad *pad, const GstSegment &segment, SyncMode sync) {
  const bool content = sync == SyncMode::content;
  GST_ELEMENT_ERROR(element, STREAM, FORMAT,
                    ("Frames on %s have no time stamps%s", GST_PAD_NAME(pad),
                     segment.format == GST_FORMAT_TIME ? "" : ": their segment is not one of time"),
                    ("%s (appsrc do-timestamp=true, a parser such as h264parse or rawvideoparse)%s",
                     content ? "sync=content needs to know how far apart the frames of a stream are; any "
                               "times at their rate will do"
                             : "Pairing by time needs them: give the source time stamps",
                     content ? "." : ", or set sync=order to pair by arrival."));
}

void post_starving(GstElement *element, const Starvation &s, const Settings &settings) {
  const char *starved = GST_PAD_NAME(s.starved), *waiting = GST_PAD_NAME(s.waiting);
  gchar *debug =
      !gst_pad_is_linked(s.starved)
          ? g_strdup_printf("Nothing is linked to %s; link a source to it.", starved)
          : g_strdup_printf("%" G_GUINT64_FORMAT " frames, %" G_GUINT64_FORMAT
                            " bytes wait on %s. If both pads hang on one tee, the branch to %s keeps more "
                            "frames to itself: raise sync-window (%" G_GUINT64_FORMAT
                            " ns) or max-queue-bytes (%" G_GUINT64_FORMAT
                            "), or let the encoder look less far ahead. Otherwise the source of %s gives "
                            "nothing.",
                            s.frames, s.bytes, waiting, starved, settings.sync_window,
                            settings.max_queue_bytes, starved);
  gchar *text = g_strdup_printf("No frame comes on %s, and %s can go no further", starved, waiting);
  if (s.fatal)
    GST_ELEMENT_ERROR(element, STREAM, FAILED, ("%s", text), ("%s", debug));
  else
    GST_ELEMENT_WARNING(element, STREAM, FAILED, ("%s", text), ("%s", debug));
  g_free(text);
  g_free(debug);
}

void post_far_apart(GstElement *element, GstPad *early, gint64 early_time, GstPad *late, gint64 late_time) {
  GST_ELEMENT_WARNING(
      element, STREAM, FAILED,
      ("Frames are further apart than sync-window: %s is at %" GST_STIME_FORMAT ", %s at %" GST_STIME_FORMAT,
       GST_PAD_NAME(early), GST_STIME_ARGS(early_time), GST_PAD_NAME(late), GST_STIME_ARGS(late_time)),
      ("Frames without partner are left out until the streams meet. If they show the same moments, set "
       "%s::offset (about %" G_GINT64_FORMAT
       "), or let sync=content find it, with a sync-window beyond that (60 s at most).",
       GST_PAD_NAME(early), late_time - early_time));
}

void post_nothing_compared(GstElement *element, guint64 ref_frames, guint64 dist_frames,
                           const Settings &settings) {
  const char *why = ref_frames == 0 || dist_frames == 0 ? "One stream was empty."
                    : settings.sync == SyncMode::order
                        ? "One stream was dropped before the other came."
                        : "Their running times are further apart than tolerance, or one stream ended before "
                          "the other began: set the pads' offset, or tolerance, or sync=order.";
  GST_ELEMENT_WARNING(element, STREAM, FAILED,
                      ("Nothing was compared: of %" G_GUINT64_FORMAT
                       " frames on ref_sink and %" G_GUINT64_FORMAT " on dist_sink no two were partners",
                       ref_frames, dist_frames),
                      ("%s", why));
}

void post_too_little_room(GstElement *element, const Settings &settings) {
  GST_ELEMENT_WARNING(
      element, STREAM, FAILED, ("max-queue-bytes is too small for sync=content: frames go without partner"),
      ("While the offset is searched, frames of both streams wait for up to sync-window (%" G_GUINT64_FORMAT
       " ns) and a second, later for the offset and a second. Raise max-queue-bytes (%" G_GUINT64_FORMAT
       "), or lower sync-window.",
       settings.sync_window, settings.max_queue_bytes));
}

// ---- What comes --------------------------------------------------------------------------------

void post_unfit_caps(GstElement *element, GstPad *pad, const GstCaps *caps) {
  const char *name = GST_PAD_NAME(pad);
  gchar *text = gst_caps_to_string(caps);
  const GstStructure *s = gst_caps_get_structure(caps, 0);
  const char *mode = gst_structure_get_string(s, "interlace-mode");
  if (const auto modifier = tiling(caps))
    GST_ELEMENT_ERROR(
        element, STREAM, FORMAT,
        ("%s takes pictures whose rows lie one behind the other, not those of DRM modifier %s", name,
         modifier->c_str()),
        ("%s. Have them made linear: a drm-format without modifier in a capsfilter before the pad, "
         "if the source has one; or vapostproc ! video/x-raw, or glupload ! gldownload ! videoconvert, "
         "before the pad.",
         text));
  else if (g_strcmp0(mode, "alternate") == 0 || g_strcmp0(mode, "fields") == 0)
    GST_ELEMENT_ERROR(element, STREAM, FORMAT, ("%s takes whole frames, not single fields", name),
                      ("%s. Deinterlace the stream or interleave its fields before the pad.", text));
  else if (!takes_memory(caps))
    GST_ELEMENT_ERROR(
        element, STREAM, FORMAT, ("%s cannot take pictures in such memory", name),
        ("%s. Put what downloads them before the pad (vapostproc, gldownload, cudadownload), or "
         "let the source give system memory.",
         text));
  else if (in_dmabufs(caps))
    GST_ELEMENT_ERROR(element, STREAM, FORMAT, ("%s cannot take dma-bufs of this format", name),
                      ("%s. gst-inspect-1.0 vmafhip lists what it takes; put a capsfilter with one of these "
                       "before the pad, if the source has it; or vapostproc; or video/x-raw ! videoconvert.",
                       text));
  else if (!gst_structure_has_name(s, "video/x-raw"))
    GST_ELEMENT_ERROR(
        element, STREAM, FORMAT, ("%s cannot take %s", name, gst_structure_get_name(s)),
        ("%s. It takes video/x-raw; coded video needs a decoder before the pad (decodebin).", text));
  else
    GST_ELEMENT_ERROR(
        element, STREAM, FORMAT, ("%s cannot take these caps", name),
        ("%s. gst-inspect-1.0 vmafhip lists what it takes; put a videoconvert before the pad.", text));
  g_free(text);
}

static std::string unwritten(GstPad *pad, std::chrono::nanoseconds waited) {
  return std::string("A frame on ") + GST_PAD_NAME(pad) + " has not been written after " +
         std::to_string(std::chrono::duration_cast<std::chrono::seconds>(waited).count()) + " s";
}

void post_unwritten(GstElement *element, GstPad *pad, std::chrono::nanoseconds waited) {
  GST_ELEMENT_WARNING(
      element, STREAM, FAILED, ("%s", unwritten(pad, waited).c_str()),
      ("Its dma-buf has a fence of the device that fills it, which is waited for. That device is "
       "overloaded or hangs (see dmesg). Further frames go without a warning."));
}

Status never_written(GstPad *pad, std::chrono::nanoseconds waited) {
  return {Code::io, unwritten(pad, waited) +
                        ": the device that fills its dma-buf hangs (see dmesg), or its driver never "
                        "signals the buffer's fence"};
}

// ---- What leaves -------------------------------------------------------------------------------

void post_unlinked_src(GstElement *element) {
  GST_ELEMENT_ERROR(element, STREAM, FAILED,
                    ("The src pad of vmafhip is not linked: add \"! fakesink\" behind it"), (nullptr));
}

void post_refused_format(GstElement *element, GstPad *origin) {
  const char *name = GST_PAD_NAME(origin);
  const CapsPtr caps(gst_pad_get_current_caps(origin));
  if (!caps || in_system_memory(caps.get())) {
    GST_ELEMENT_ERROR(
        element, STREAM, FORMAT,
        ("The element behind vmafhip does not take the format of %s; put a videoconvert there", name),
        (nullptr));
    return;
  }
  gchar *text = gst_caps_to_string(caps.get());
  GST_ELEMENT_ERROR(
      element, STREAM, FORMAT,
      ("The element behind vmafhip does not take the memory that the pictures of %s are in", name),
      ("%s. Frames leave as they came: put a capsfilter video/x-raw before %s, if its source can give "
       "system memory; or what downloads them behind vmafhip (vapostproc, glupload ! gldownload).",
       text, name));
  g_free(text);
}

// ---- What is compared --------------------------------------------------------------------------

void post_not_simultaneous(GstElement *element) {
  GST_ELEMENT_WARNING(element, STREAM, FAILED, ("Reference and distorted frames are not simultaneous"),
                      ("More than 5 %% of the pairs lie over 2 ms apart after a constant offset is taken "
                       "out. If the frame rates differ, as 30 and 25 frames/s do, bring both to one for "
                       "scores that mean something; time stamps that only jitter, as a network's do, harm "
                       "no score. The frames' distance is in each message."));
}

void post_no_windows(GstElement *element) {
  GST_ELEMENT_WARNING(element, STREAM, FAILED,
                      ("Frames on ref_sink have no time stamps, which window and alert-duration need"),
                      ("There will be no window messages, nor alerts that must last. Give the source time "
                       "stamps (appsrc do-timestamp=true, videorate, a parser)."));
}

void post_scaled(GstElement *element, const PictureFormat &ref, const PictureFormat &dist, ScaleMethod method,
                 const std::string &note) {
  GST_ELEMENT_WARNING(element, STREAM, FORMAT,
                      ("Distorted pictures are scaled from %dx%d to the reference's %dx%d, scale-method=%s%s",
                       dist.width, dist.height, ref.width, ref.height, nick_of(method), note.c_str()),
                      ("Scores depend on how that is done, and other tools use other kernels. Further sizes "
                       "are scaled without a warning; scale-method=none makes them an error."));
}

void post_no_intervals(GstElement *element) {
  GST_ELEMENT_WARNING(
      element, LIBRARY, SETTINGS, ("conf-interval: no model gives confidence intervals"),
      ("They come with bootstrap models (vmaf_b_v0.6.3 and others); the score goes without."));
}

}  // namespace vmafhip
