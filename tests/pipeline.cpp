#include "tests/pipeline.h"

#include <gst/app/gstappsrc.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace vmafhip::test {

// ---- pictures as buffers -----------------------------------------------------------------------

GstVideoInfo video_info(const char *format, int width, int height, int fps_n, int fps_d) {
  GstVideoInfo info;
  gst_video_info_init(&info);
  const GstVideoFormat f = gst_video_format_from_string(format);
  if (f == GST_VIDEO_FORMAT_UNKNOWN) throw std::invalid_argument(std::string("no format ") + format);
  gst_video_info_set_format(&info, f, guint(width), guint(height));
  GST_VIDEO_INFO_FPS_N(&info) = fps_n;
  GST_VIDEO_INFO_FPS_D(&info) = fps_d;
  return info;
}

std::string caps_text(const char *format, int width, int height, int fps_n, int fps_d) {
  return std::string("video/x-raw,format=") + format + ",width=" + std::to_string(width) +
         ",height=" + std::to_string(height) + ",framerate=" + std::to_string(fps_n) + "/" +
         std::to_string(fps_d);
}

Planes clip_planes(const clipgen::Generator &clip, clipgen::Role role, int frame) {
  return {clip.plane(role, frame, 0), clip.plane(role, frame, 1), clip.plane(role, frame, 2)};
}

GstBuffer *make_buffer(const GstVideoInfo &info, const Planes &planes, const Layout &layout) {
  const guint n_planes = GST_VIDEO_INFO_N_PLANES(&info);
  gsize offset[GST_VIDEO_MAX_PLANES] = {};
  gint stride[GST_VIDEO_MAX_PLANES] = {};
  gsize size[GST_VIDEO_MAX_PLANES] = {}, total = 0;
  GstBuffer *buffer = gst_buffer_new();
  for (guint p = 0; p < n_planes; ++p) {
    const bool custom = layout.stride_padding || layout.plane_gap;
    // Rows of plane p: those of any component that lies in it.
    guint rows = 0;
    for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS(&info); ++c)
      if (GST_VIDEO_FORMAT_INFO_PLANE(info.finfo, c) == p) rows = guint(GST_VIDEO_INFO_COMP_HEIGHT(&info, c));
    stride[p] = GST_VIDEO_INFO_PLANE_STRIDE(&info, p) + layout.stride_padding;
    const gsize next =
        p + 1 < n_planes ? GST_VIDEO_INFO_PLANE_OFFSET(&info, p + 1) : GST_VIDEO_INFO_SIZE(&info);
    const gsize body = custom ? gsize(stride[p]) * rows : next - GST_VIDEO_INFO_PLANE_OFFSET(&info, p);
    offset[p] = total + gsize(layout.plane_gap);
    size[p] = body + gsize(layout.plane_gap);
    total += size[p];
  }
  std::vector<guint8> bytes(total);
  guint32 noise = 12345;
  for (guint8 &b : bytes) b = guint8((noise = noise * 1664525u + 1013904223u) >> 24);
  const int shift = GST_VIDEO_FORMAT_INFO_SHIFT(info.finfo, 0);
  const int word = GST_VIDEO_FORMAT_INFO_DEPTH(info.finfo, 0) > 8 ? 2 : 1;
  for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS(&info); ++c) {
    const guint p = GST_VIDEO_FORMAT_INFO_PLANE(info.finfo, c);
    const int w = GST_VIDEO_INFO_COMP_WIDTH(&info, c), h = GST_VIDEO_INFO_COMP_HEIGHT(&info, c);
    const int step = GST_VIDEO_FORMAT_INFO_PSTRIDE(info.finfo, c);
    // One word, not GStreamer's one byte (see map_picture).
    const int second = GST_VIDEO_FORMAT_INFO_POFFSET(info.finfo, c) > 0 ? word : 0;
    guint8 *base = bytes.data() + offset[p] + second;
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < w; ++x) {
        const unsigned v = unsigned(planes[c].at(size_t(y) * size_t(w) + size_t(x))) << shift;
        guint8 *at = base + gsize(y) * gsize(stride[p]) + gsize(x) * gsize(step);
        at[0] = guint8(v);
        if (word == 2) at[1] = guint8(v >> 8);
      }
  }
  gsize begin = 0;
  for (guint p = 0; p < n_planes; ++p) {
    const bool last = p + 1 == n_planes;
    if (!layout.split_memories && !last) continue;
    const gsize end = layout.split_memories ? begin + size[p] : total;
    GstMemory *memory = gst_allocator_alloc(nullptr, end - begin, nullptr);
    GstMapInfo map;
    gst_memory_map(memory, &map, GST_MAP_WRITE);
    std::copy(bytes.begin() + gssize(begin), bytes.begin() + gssize(end), map.data);
    gst_memory_unmap(memory, &map);
    gst_buffer_append_memory(buffer, memory);
    begin = end;
  }
  if (layout.video_meta)
    gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT(&info),
                                   guint(GST_VIDEO_INFO_WIDTH(&info)), guint(GST_VIDEO_INFO_HEIGHT(&info)),
                                   n_planes, offset, stride);
  return buffer;
}

// ---- pipelines ---------------------------------------------------------------------------------

namespace {

// gst_parse_launch of GStreamer 1.22 keeps a reference to a pad each time it sets one of its properties; nobody else holds
// one yet.
void drop_references_of_parsing(GstBin *bin) {
  GstIterator *elements = gst_bin_iterate_all_by_element_factory_name(bin, "vmafhip");
  gst_iterator_foreach(
      elements,
      [](const GValue *value, gpointer) {
        for (GList *at = GST_ELEMENT(g_value_get_object(value))->sinkpads; at; at = at->next)
          while (GST_OBJECT_REFCOUNT_VALUE(at->data) > 1) gst_object_unref(at->data);
      },
      nullptr);
  gst_iterator_free(elements);
}

}  // namespace

Pipeline::Pipeline(const std::string &description) {
  GError *error = nullptr;
  pipeline_ = gst_parse_launch(description.c_str(), &error);
  if (error) {
    const std::string text = error->message;
    g_error_free(error);
    if (pipeline_) gst_object_unref(pipeline_);
    throw std::runtime_error(text + " in: " + description);
  }
  drop_references_of_parsing(GST_BIN(pipeline_));
  if (GstElement *sink = gst_bin_get_by_name(GST_BIN(pipeline_), "out")) {
    GstPad *pad = gst_element_get_static_pad(sink, "sink");
    gst_pad_add_probe(pad,
                      GstPadProbeType(GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM |
                                      GST_PAD_PROBE_TYPE_EVENT_FLUSH),
                      probe, this, nullptr);
    gst_object_unref(pad);
    gst_object_unref(sink);
  }
}

Pipeline::~Pipeline() {
  stop();
  for (auto &[name, element] : elements_) gst_object_unref(element);
  gst_object_unref(pipeline_);
}

void Pipeline::stop() {
  gst_element_set_state(pipeline_, GST_STATE_NULL);
  stopped_ = true;
  for (std::thread &t : feeders_) t.join();
  feeders_.clear();
}

size_t Pipeline::count_out() {
  std::lock_guard lock(mutex_);
  return out.size();
}

size_t Pipeline::count_out(const std::string &event) {
  std::lock_guard lock(mutex_);
  return size_t(std::count(out_events.begin(), out_events.end(), event));
}

void Pipeline::forget() {
  frames.clear();
  pooled.clear();
  resets.clear();
  others.clear();
  warnings.clear();
  errors.clear();
  std::lock_guard lock(mutex_);
  out.clear();
  out_events.clear();
}

GstElement *Pipeline::get(const char *name) {
  GstElement *&element = elements_[name];
  if (!element) element = gst_bin_get_by_name(GST_BIN(pipeline_), name);
  if (!element) throw std::runtime_error(std::string("no element ") + name);
  return element;
}

void Pipeline::feed_samples(const char *name, std::function<GstSample *()> next) {
  GstAppSrc *source = GST_APP_SRC(get(name));
  // The source blocks its feeder instead of queueing the whole clip.
  g_object_set(source, "block", TRUE, "max-buffers", guint64(2), "format", GST_FORMAT_TIME, nullptr);
  feeds_.emplace_back([source, next = std::move(next)] {
    while (GstSample *sample = next()) {
      const GstFlowReturn flow = gst_app_src_push_sample(source, sample);
      gst_sample_unref(sample);
      if (flow != GST_FLOW_OK) return;
    }
    gst_app_src_end_of_stream(source);
  });
}

void Pipeline::feed(const char *name, std::function<GstBuffer *()> next) {
  feed_samples(name, [next = std::move(next)]() -> GstSample * {
    GstBuffer *buffer = next();
    if (!buffer) return nullptr;
    GstSample *sample = gst_sample_new(buffer, nullptr, nullptr, nullptr);
    gst_buffer_unref(buffer);
    return sample;
  });
}

bool Pipeline::play(GstState state) {
  stopped_ = false;
  if (gst_element_set_state(pipeline_, state) == GST_STATE_CHANGE_FAILURE) return false;
  for (auto &feed : std::exchange(feeds_, {})) feeders_.emplace_back(std::move(feed));
  return true;
}

void Pipeline::keep(GstMessage *message) {
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ELEMENT) {
    const GstStructure *s = gst_message_get_structure(message);
    if (!gst_structure_has_name(s, "vmafhip")) return;
    const std::string type = gst_structure_get_string(s, "type");
    auto &list = type == "frame" ? frames : type == "pooled" ? pooled : type == "reset" ? resets : others;
    list.emplace_back(gst_structure_copy(s));
  } else if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR ||
             GST_MESSAGE_TYPE(message) == GST_MESSAGE_WARNING) {
    const bool fatal = GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR;
    GError *error;
    gchar *debug;
    fatal ? gst_message_parse_error(message, &error, &debug)
          : gst_message_parse_warning(message, &error, &debug);
    (fatal ? errors : warnings).push_back(std::string(error->message) + " | " + (debug ? debug : ""));
    g_error_free(error);
    g_free(debug);
  } else if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_LATENCY) {
    gst_bin_recalculate_latency(GST_BIN(pipeline_));
  }
}

std::string Pipeline::wait(double seconds) {
  return wait_until([] { return false; }, seconds);
}

std::string Pipeline::wait_until(const std::function<bool()> &done, double seconds) {
  GstBus *bus = gst_element_get_bus(pipeline_);
  const auto limit = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds * slowness());
  std::string end = "timeout";
  while (std::chrono::steady_clock::now() < limit) {
    if (done()) {
      end = "done";
      break;
    }
    GstMessage *message = gst_bus_timed_pop(bus, 20 * GST_MSECOND);
    if (!message) continue;
    keep(message);
    const GstMessageType type = GST_MESSAGE_TYPE(message);
    gst_message_unref(message);
    if (type == GST_MESSAGE_EOS) end = "eos";
    if (type == GST_MESSAGE_ERROR) end = "error";
    if (end != "timeout") break;
  }
  // What was posted before the end counts.
  while (GstMessage *message = gst_bus_pop(bus)) {
    keep(message);
    gst_message_unref(message);
  }
  gst_object_unref(bus);
  return end;
}

GstPadProbeReturn Pipeline::probe(GstPad *, GstPadProbeInfo *info, gpointer self) {
  auto &pipeline = *static_cast<Pipeline *>(self);
  std::lock_guard lock(pipeline.mutex_);
  if (info->type & GST_PAD_PROBE_TYPE_BUFFER) {
    GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER(info);
    gint64 index = -1;
    if (GstCustomMeta *meta = gst_buffer_get_custom_meta(buffer, "VmafHipScore")) {
      guint64 value;
      if (gst_structure_get_uint64(gst_custom_meta_get_structure(meta), "index", &value))
        index = gint64(value);
    }
    guint64 checksum = 14695981039346656037u;  // FNV-1a, eight bytes at a time
    GstMapInfo map;
    if (gst_buffer_map(buffer, &map, GST_MAP_READ)) {
      for (gsize i = 0; i + 8 <= map.size; i += 8) {
        guint64 word;
        std::memcpy(&word, map.data + i, 8);
        checksum = (checksum ^ word) * 1099511628211u;
      }
      gst_buffer_unmap(buffer, &map);
    }
    pipeline.out.push_back({GST_BUFFER_PTS(buffer), index, checksum});
  } else {
    pipeline.out_events.push_back(GST_EVENT_TYPE_NAME(GST_PAD_PROBE_INFO_EVENT(info)));
  }
  return GST_PAD_PROBE_OK;
}

// ---- structures --------------------------------------------------------------------------------

guint64 number(const GstStructure *s, const char *field) {
  guint64 value = 0;
  EXPECT_TRUE(gst_structure_get_uint64(s, field, &value)) << "no guint64 " << field;
  return value;
}

guint64 stats_number(gpointer element, const char *field) {
  GstStructure *stats = nullptr;
  g_object_get(element, "stats", &stats, nullptr);
  const guint64 value = number(stats, field);
  gst_structure_free(stats);
  return value;
}

gint64 signed_number(const GstStructure *s, const char *field) {
  gint64 value = 0;
  EXPECT_TRUE(gst_structure_get_int64(s, field, &value)) << "no gint64 " << field;
  return value;
}

double real(const GstStructure *s, const char *field) {
  double value = -1e300;
  EXPECT_TRUE(gst_structure_get_double(s, field, &value)) << "no double " << field;
  return value;
}

namespace {
const GstStructure *nested(const GstStructure *s, const char *field) {
  const GValue *value = gst_structure_get_value(s, field);
  EXPECT_TRUE(value && GST_VALUE_HOLDS_STRUCTURE(value)) << "no structure " << field;
  return value && GST_VALUE_HOLDS_STRUCTURE(value) ? gst_value_get_structure(value) : nullptr;
}
}  // namespace

double real_in(const GstStructure *s, const char *inner, const char *field) {
  const GstStructure *in = nested(s, inner);
  return in ? real(in, field) : -1e300;
}

double pooled_in(const GstStructure *s, const char *inner, const char *name, const char *method) {
  const GstStructure *in = nested(s, inner);
  const GstStructure *pool = in ? nested(in, name) : nullptr;
  return pool ? real(pool, method) : -1e300;
}

double slowness() {
  const char *text = std::getenv("VMAFHIP_TEST_SLOWNESS");
  return text ? std::max(1., std::strtod(text, nullptr)) : 1;
}

long allocated_kib() {
  const struct mallinfo2 all = mallinfo2();  // of all arenas
  return static_cast<long>((all.uordblks + all.hblkhd) / 1024);
}

long resident_kib() {
  long pages = 0, resident = 0;
  if (FILE *f = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(f, "%ld %ld", &pages, &resident) != 2) resident = 0;
    std::fclose(f);
  }
  return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

}  // namespace vmafhip::test
