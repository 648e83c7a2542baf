// The element in a C++ program: scores of one file against another, by messages and on the buffers themselves.
//
//   g++ -std=c++17 embed.cpp -o embed $(pkg-config --cflags --libs gstreamer-1.0)
//   ./embed REFERENCE DISTORTED
//
// In Meson: executable('embed', 'embed.cpp', dependencies: dependency('gstreamer-1.0'))
#include <gst/gst.h>

#include <cstdio>

// In the streaming thread: each buffer that leaves, with its score if it has one.
GstPadProbeReturn on_buffer(GstPad *, GstPadProbeInfo *info, gpointer) {
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER(info);
  GstCustomMeta *meta = gst_buffer_get_custom_meta(buffer, "VmafHipScore");
  double score;
  if (meta && gst_structure_get_double(gst_custom_meta_get_structure(meta), "score", &score))
    std::printf("buffer %" G_GUINT64_FORMAT " %.6f\n", GST_BUFFER_PTS(buffer), score);
  return GST_PAD_PROBE_OK;
}

int main(int argc, char **argv) {
  gst_init(&argc, &argv);
  if (argc != 3) return std::fprintf(stderr, "usage: embed REFERENCE DISTORTED\n"), 2;
  g_autoptr(GError) error = nullptr;
  g_autoptr(GstElement) pipeline = gst_parse_launch(
      "vmafhip name=v ! fakesink  filesrc name=ref ! decodebin ! videoconvert ! v.ref_sink "
      "filesrc name=dist ! decodebin ! videoconvert ! v.dist_sink",
      &error);
  if (error) return std::fprintf(stderr, "%s\n", error->message), 2;
  gst_child_proxy_set(GST_CHILD_PROXY(pipeline), "ref::location", argv[1], "dist::location", argv[2],
                      nullptr);
  g_autoptr(GstElement) v = gst_bin_get_by_name(GST_BIN(pipeline), "v");
  g_autoptr(GstPad) src = gst_element_get_static_pad(v, "src");
  gst_pad_add_probe(src, GST_PAD_PROBE_TYPE_BUFFER, on_buffer, nullptr, nullptr);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);

  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  bool ended = false, failed = false;
  while (!ended && !failed) {
    g_autoptr(GstMessage) message = gst_bus_timed_pop(bus, GST_CLOCK_TIME_NONE);
    const GstStructure *s = gst_message_get_structure(message);
    double score;
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ELEMENT && gst_structure_has_name(s, "vmafhip") &&
        gst_structure_get_double(s, "score", &score))
      std::printf("%s %.6f\n", gst_structure_get_string(s, "type"), score);  // frame, pooled, …
    if ((failed = GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR)) {
      gst_message_parse_error(message, &error, nullptr);
      std::fprintf(stderr, "%s: %s\n", GST_MESSAGE_SRC_NAME(message), error->message);
    }
    ended = GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS;
  }
  gst_element_set_state(pipeline, GST_STATE_NULL);
  return failed ? 1 : 0;
}
