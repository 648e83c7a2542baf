#include "examples/monitor/pipeline.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <set>

#include "examples/monitor/elements.h"
#include "examples/monitor/error_text.h"
#include "examples/monitor/redact.h"

namespace monitor {

namespace {

constexpr const char *kVideo = "video/x-raw(ANY)";
constexpr int64_t kGap = GST_SECOND;
constexpr guint kMostWaiting = 256 << 20;  // bytes of the reference beside an encoder
constexpr const char *kNoBase = "GStreamer's base plugins are missing (package gstreamer1.0-plugins-base)";

// Whatever of a source or decoder is video goes on to the element `to`, the first of it.
void on_pad_added(GstElement *, GstPad *pad, gpointer to) {
  const PadPtr sink(gst_element_get_static_pad(GST_ELEMENT(to), "sink"));
  if (!gst_pad_is_linked(sink.get())) gst_pad_link(pad, sink.get());
}

// RTSP: no other streams than video are asked for.
gboolean on_select_stream(GstElement *, guint, GstCaps *caps, gpointer) {
  const char *media = gst_structure_get_string(gst_caps_get_structure(caps, 0), "media");
  return !g_strcmp0(media, "video");
}

void on_source_setup(GstElement *, GstElement *source, gpointer) {
  if (g_signal_lookup("select-stream", G_OBJECT_TYPE(source)))
    g_signal_connect(source, "select-stream", G_CALLBACK(on_select_stream), nullptr);
}

// Where the frame lies in its stream's running time, whatever offset the pad has.
std::optional<int64_t> running_time(GstPad *pad, GstClockTime pts) {
  const PadPtr peer(gst_pad_get_peer(pad));
  if (!peer || !GST_CLOCK_TIME_IS_VALID(pts)) return {};
  const EventPtr event(gst_pad_get_sticky_event(peer.get(), GST_EVENT_SEGMENT, 0));
  if (!event) return {};
  const GstSegment *segment;
  gst_event_parse_segment(event.get(), &segment);
  guint64 time = 0;
  const int sign = gst_segment_to_running_time_full(segment, GST_FORMAT_TIME, pts, &time);
  if (sign == 0) return {};
  return sign < 0 ? -int64_t(time) : int64_t(time);
}

int64_t wall_ns() { return g_get_monotonic_time() * 1000; }

// Containers may begin at another time than the first frame's: MPEG-TS and fragmented MP4 at the first DTS.
bool has_container(GstBin *encoder) {
  for (const ElementPtr &element : elements_in(encoder)) {
    const char *kind = gst_element_get_metadata(element.get(), GST_ELEMENT_METADATA_KLASS);
    if (kind && std::strstr(kind, "Muxer")) return true;
  }
  return false;
}

}  // namespace

// Whose it is comes first: a stream, by its URI; an element of the encoder; of the rest nobody wants to know the name.
std::string Pipeline::text_of(GstMessage *message) const {
  GstObject *from = GST_MESSAGE_SRC(message);
  for (const Probed &side : sides_) {
    if (!side.source || !from || !gst_object_has_as_ancestor(from, GST_OBJECT(side.source))) continue;
    const std::string who =
        (side.side == reference ? "reference " : "distorted stream ") + redact_uri(side.uri) + ": ";
    const std::string no_video = is_about_decoding(message) ? why_no_video(side) : "";
    return who + (no_video.empty() ? error_text(message, side.frames > 0, side.uri) : no_video);
  }
  const bool of_encoder = encoder_ && from && gst_object_has_as_ancestor(from, GST_OBJECT(encoder_));
  return (of_encoder ? std::string("encoder, ") + GST_OBJECT_NAME(from) + ": " : "") +
         error_text(message, true);
}

// Of a stream without a single frame, from what in its source leads nowhere: either that is its video, or it has none.
std::string Pipeline::why_no_video(const Probed &side) {
  if (side.frames > 0) return {};
  std::set<std::string> media;
  const auto look_at = [](GstElement *, GstPad *pad, gpointer media) -> gboolean {
    const CapsPtr caps(gst_pad_get_current_caps(pad));
    if (caps && !gst_pad_is_linked(pad))
      static_cast<std::set<std::string> *>(media)->insert(media_text(caps.get()));
    return TRUE;
  };
  for (const ElementPtr &element : elements_in(GST_BIN(side.source)))
    gst_element_foreach_src_pad(element.get(), look_at, &media);
  std::string all;
  for (const std::string &one : media) {
    if (g_str_has_prefix(one.c_str(), "video/") || g_str_has_prefix(one.c_str(), "image/"))
      return "No element that is installed decodes " + one + "; package gstreamer1.0-libav decodes most";
    all += (all.empty() ? "" : ", ") + one;
  }
  return all.empty() ? "" : "There is no video in it, only " + all;
}

// ---- building -------------------------------------------------------------------------------------

std::shared_ptr<Pipeline> Pipeline::create(const ChannelSettings &channel, const RenditionSettings &rendition,
                                           const std::string &results, std::string &error) {
  std::shared_ptr<Pipeline> made(new Pipeline);
  error = made->build(channel, rendition, results);
  return error.empty() ? made : nullptr;
}

Pipeline::~Pipeline() {
  if (!pipeline_) return;
  gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
  gst_bus_set_flushing(bus_.get(), TRUE);  // messages that nobody has read keep the elements that sent them
}

GstElement *Pipeline::add(const char *factory) {
  GstElement *element = gst_element_factory_make(factory, nullptr);
  if (element) gst_bin_add(GST_BIN(pipeline_.get()), element);
  return element;
}

// Ends in the videoconvert that is returned.
GstElement *Pipeline::add_source(Side side, const std::string &uri) {
  GstElement *source = add("uridecodebin"), *convert = add("videoconvert");
  if (!source || !convert) return nullptr;
  sides_[side].source = source;
  sides_[side].uri = uri;
  const CapsPtr video(gst_caps_from_string(kVideo));
  g_object_set(source, "uri", uri.c_str(), "caps", video.get(), "expose-all-streams", FALSE, nullptr);
  g_signal_connect(source, "pad-added", G_CALLBACK(on_pad_added), convert);
  g_signal_connect(source, "source-setup", G_CALLBACK(on_source_setup), nullptr);
  return convert;
}

std::string Pipeline::configure(const ChannelSettings &channel, const std::string &results) {
  GObject *element = G_OBJECT(element_);
  g_object_set(element, "model", channel.model.c_str(), "features", channel.features.c_str(), "attach-meta",
               FALSE, "window", guint64(channel.window_seconds * GST_SECOND), nullptr);
  gst_util_set_object_arg(element, "backend", channel.backend.c_str());
  const bool keeps_times = encoder_ && !channel.sync_given && !has_container(GST_BIN(encoder_));
  gst_util_set_object_arg(element, "sync", keeps_times ? "timestamp" : channel.sync.c_str());
  gst_util_set_object_arg(element, "alert-direction", channel.alert_above ? "above" : "below");
  if (channel.alert_threshold)
    g_object_set(element, "alert-threshold", *channel.alert_threshold, "alert-clear",
                 channel.alert_clear.value_or(*channel.alert_threshold), "alert-duration",
                 guint64(channel.alert_seconds * GST_SECOND), nullptr);
  if (!results.empty()) g_object_set(element, "results-filename", results.c_str(), nullptr);
  for (const auto &[name, value] : channel.properties)
    if (std::string e = set_property(element_, name, value); !e.empty()) return "set: " + e;
  return {};
}

std::string Pipeline::add_encoder(const RenditionSettings &rendition, GstElement *from) {
  const std::string where = "encode '" + rendition.encode + "': ";
  GError *broken = nullptr;
  encoder_ = gst_parse_bin_from_description_full(rendition.encode.c_str(), TRUE, nullptr,
                                                 GST_PARSE_FLAG_FATAL_ERRORS, &broken);
  if (broken) return where + take_text(broken);
  gst_bin_add(GST_BIN(pipeline_.get()), encoder_);

  if (std::string e = changes_.prepare(GST_BIN(encoder_), element_, rendition.changes); !e.empty())
    return "change: " + e;

  GstElement *tee = add("tee"), *here = add("queue"), *there = add("queue");
  GstElement *decode = add("decodebin"), *convert = add("videoconvert");
  if (!tee || !here || !there || !decode || !convert) return kNoBase;
  // Containers come in pieces, and their readers want some: the reference waits meanwhile.
  g_object_set(here, "max-size-buffers", 0u, "max-size-time", guint64(0), "max-size-bytes", kMostWaiting,
               nullptr);
  const CapsPtr video(gst_caps_from_string(kVideo));
  g_object_set(decode, "caps", video.get(), "expose-all-streams", FALSE, nullptr);
  g_signal_connect(decode, "pad-added", G_CALLBACK(on_pad_added), convert);
  const PadPtr input(gst_element_get_static_pad(encoder_, "sink"));
  if (!input || !gst_element_link_many(from, tee, here, nullptr) ||
      !gst_element_link_pads(here, "src", element_, "ref_sink") ||
      !gst_element_link_many(tee, there, encoder_, decode, nullptr) ||
      !gst_element_link_pads(convert, "src", element_, "dist_sink"))
    return where + "needs one input, of raw video, and one output";
  gst_pad_add_probe(input.get(), GST_PAD_PROBE_TYPE_BUFFER, on_encoder_input, this, nullptr);
  return {};
}

std::string Pipeline::build(const ChannelSettings &channel, const RenditionSettings &rendition,
                            const std::string &results) {
  pipeline_.reset(GST_ELEMENT(gst_object_ref_sink(gst_pipeline_new(nullptr))));
  // Messages of the way down are read after it.
  g_object_set(pipeline_.get(), "auto-flush-bus", FALSE, nullptr);
  bus_.reset(gst_element_get_bus(pipeline_.get()));
  element_ = add("vmafhip");
  if (!element_)
    return "There is no element vmafhip: GST_PLUGIN_PATH must name the folder of libgstvmafhip.so, "
           "build/gst/vmafhip";
  sink_ = add("fakesink");
  GstElement *from = add_source(reference, channel.reference);
  if (!sink_ || !from || !gst_element_link(element_, sink_)) return kNoBase;
  g_object_set(sink_, "sync", FALSE, "async", FALSE, nullptr);
  paced_ = channel.realtime || !g_str_has_prefix(channel.reference.c_str(), "file:") ||
           (!rendition.uri.empty() && !g_str_has_prefix(rendition.uri.c_str(), "file:"));

  if (!rendition.encode.empty()) {
    if (std::string e = add_encoder(rendition, from); !e.empty()) return e;
  } else {
    GstElement *distorted = add_source(Side::distorted, rendition.uri);
    if (!distorted || !gst_element_link_pads(from, "src", element_, "ref_sink") ||
        !gst_element_link_pads(distorted, "src", element_, "dist_sink"))
      return kNoBase;
  }
  if (std::string e = configure(channel, results); !e.empty()) return e;

  for (const Side side : {reference, distorted}) {
    sides_[side].pipeline = this;
    sides_[side].side = side;
    const PadPtr pad(gst_element_get_static_pad(element_, side == reference ? "ref_sink" : "dist_sink"));
    gst_pad_add_probe(pad.get(),
                      GstPadProbeType(GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM),
                      on_data, &sides_[side], nullptr);
  }
  const PadPtr pad(gst_element_get_static_pad(sink_, "sink"));
  gst_pad_add_probe(pad.get(),
                    GstPadProbeType(GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM),
                    on_output, this, nullptr);
  started_ = g_get_monotonic_time();
  return {};
}

std::string Pipeline::try_element() {
  std::string error;
  if (gst_element_set_state(pipeline_.get(), GST_STATE_READY) == GST_STATE_CHANGE_FAILURE ||
      gst_element_set_state(element_, GST_STATE_PAUSED) == GST_STATE_CHANGE_FAILURE) {
    const MessagePtr message(gst_bus_pop_filtered(bus_.get(), GST_MESSAGE_ERROR));
    error = message ? text_of(message.get()) : "GStreamer does not say why the pipeline cannot be made ready";
  }
  gst_element_set_state(element_, GST_STATE_NULL);
  gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
  return error;
}

// ---- running --------------------------------------------------------------------------------------

// Once it has been stopped, a thread that still brings it up must not.
GstStateChangeReturn Pipeline::bring_up(GstState state) {
  std::lock_guard lock(state_mutex_);
  return stopped_ ? GST_STATE_CHANGE_SUCCESS : gst_element_set_state(pipeline_.get(), state);
}

bool Pipeline::play() {
  const auto paused = bring_up(GST_STATE_PAUSED);
  if (paused == GST_STATE_CHANGE_FAILURE) return false;
  live_ = paused == GST_STATE_CHANGE_NO_PREROLL;
  // Live sources pace themselves. Others, of the network, would be fetched as fast as it goes.
  if (!live_ && paced_) g_object_set(sink_, "sync", TRUE, nullptr);
  return bring_up(GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE;
}

void Pipeline::end() { gst_element_send_event(pipeline_.get(), gst_event_new_eos()); }

void Pipeline::stop() {
  {
    std::lock_guard lock(state_mutex_);
    stopped_ = true;
  }
  gst_element_set_state(pipeline_.get(), GST_STATE_READY);
  gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
}

Pipeline::Flow Pipeline::flow(Side side) const {
  const Probed &s = sides_[side];
  // An encoder may take many frames before it gives one; live, it has no such time.
  const int64_t taken = side == distorted && !live_ ? encoder_moved_.load() : 0;
  // What the sink waits for comes later: nothing is missing before.
  const int64_t last = std::max<int64_t>({s.last, started_, taken, waits_until_});
  return {g_get_monotonic_time() - last, s.ended};
}

bool Pipeline::read_caps(const char *pad_name, GstVideoInfo &info) const {
  const PadPtr pad(gst_element_get_static_pad(element_, pad_name));
  const CapsPtr caps(gst_pad_get_current_caps(pad.get()));
  return caps && gst_video_info_from_caps(&info, caps.get());
}

double Pipeline::fps() const {
  if (!paced_ && !live_) return 0;
  double lowest = INFINITY;
  GstVideoInfo info;
  for (const char *pad : {"ref_sink", "dist_sink"})
    if (read_caps(pad, info) && info.fps_n > 0) lowest = std::min(lowest, double(info.fps_n) / info.fps_d);
  guint subsample = 1;
  g_object_get(element_, "subsample", &subsample, nullptr);
  return std::isfinite(lowest) ? lowest / subsample : 0;
}

std::string Pipeline::caps() const {
  GstVideoInfo info;
  if (!read_caps("ref_sink", info)) return "";
  std::string text =
      std::to_string(info.width) + "x" + std::to_string(info.height) + " " + GST_VIDEO_INFO_NAME(&info);
  if (info.fps_n > 0) text += " " + std::to_string(info.fps_n) + "/" + std::to_string(info.fps_d);
  return text;
}

int64_t Pipeline::duration() const {
  gint64 duration = -1;
  return gst_element_query_duration(pipeline_.get(), GST_FORMAT_TIME, &duration) ? duration : -1;
}

// ---- probes, in the streams' threads --------------------------------------------------------------

GstPadProbeReturn Pipeline::on_data(GstPad *pad, GstPadProbeInfo *info, gpointer data) {
  Probed &side = *static_cast<Probed *>(data);
  if (info->type & GST_PAD_PROBE_TYPE_BUFFER) {
    side.pipeline->came(GST_PAD_PROBE_INFO_BUFFER(info), pad, side);
    return GST_PAD_PROBE_OK;
  }
  GstEvent *event = GST_PAD_PROBE_INFO_EVENT(info);
  switch (GST_EVENT_TYPE(event)) {
    case GST_EVENT_CAPS: {
      GstCaps *caps;
      gst_event_parse_caps(event, &caps);
      side.pipeline->changed_to(caps, side);
      break;
    }
    case GST_EVENT_GAP: {  // demuxers fill a jump with one
      GstClockTime start, duration;
      gst_event_parse_gap(event, &start, &duration);
      const auto end = running_time(pad, start + (GST_CLOCK_TIME_IS_VALID(duration) ? duration : 0));
      if (end && side.pipeline->incoming_.jumps(side.side, *end)) return GST_PAD_PROBE_DROP;
      break;
    }
    case GST_EVENT_EOS:
      side.ended = true;
      break;
    default:
      break;
  }
  return GST_PAD_PROBE_OK;
}

// Pictures in a GPU's memory would have to be fetched, whole: there are no thumbnails of them.
void Pipeline::changed_to(GstCaps *caps, Probed &side) {
  const GstCapsFeatures *features = gst_caps_get_features(caps, 0);
  side.readable = (gst_caps_features_is_equal(features, GST_CAPS_FEATURES_MEMORY_SYSTEM_MEMORY) ||
                   gst_caps_features_contains(features, "memory:DMABuf")) &&
                  gst_video_info_from_caps(&side.info, caps);
}

void Pipeline::came(GstBuffer *buffer, GstPad *pad, Probed &side) {
  ++side.frames;
  side.last = g_get_monotonic_time();
  if (side.readable) side.thumbnails.add(GST_BUFFER_PTS(buffer), make_thumbnail(side.info, buffer));
  const auto time = running_time(pad, GST_BUFFER_PTS(buffer));
  if (!time) return;
  const int64_t before = gst_pad_get_offset(pad);
  const auto offset = incoming_.frame(side.side, *time, wall_ns());
  if (!offset) return;
  gst_pad_set_offset(pad, *offset);
  const char *name = side.side == reference ? "reference" : "distorted";
  gst_element_post_message(
      element_, gst_message_new_application(
                    GST_OBJECT(element_),
                    gst_structure_new("jump", "side", G_TYPE_STRING, name, "seconds", G_TYPE_DOUBLE,
                                      double(before - *offset) / GST_SECOND, nullptr)));
}

// A sink holds its first buffer until the pipeline plays, which it does not before an encoder's decoder has been chosen:
// that takes many frames, so that the element must be rid of those that leave meanwhile. And buffers leave with their own
// time stamps: where the sink waits for the clock, it would wait for a jump, too. The end is told from here, as a sink
// that does not preroll keeps it to itself where it comes before the pipeline plays.
GstPadProbeReturn Pipeline::on_output(GstPad *pad, GstPadProbeInfo *info, gpointer data) {
  auto *self = static_cast<Pipeline *>(data);
  if (info->type & GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM) {
    if (GST_EVENT_TYPE(GST_PAD_PROBE_INFO_EVENT(info)) == GST_EVENT_EOS)
      gst_element_post_message(self->element_, gst_message_new_application(GST_OBJECT(self->element_),
                                                                           gst_structure_new_empty("end")));
    return GST_PAD_PROBE_OK;
  }
  if (GST_STATE(self->sink_) < GST_STATE_PLAYING) return GST_PAD_PROBE_DROP;
  const auto time = running_time(pad, GST_BUFFER_PTS(GST_PAD_PROBE_INFO_BUFFER(info)));
  if (!time) return GST_PAD_PROBE_OK;
  if (const auto offset = self->outgoing_.frame(reference, *time, wall_ns())) {
    self->sink_offset_ = *offset;
    g_object_set(self->sink_, "ts-offset", gint64(*offset), nullptr);
  }
  // Far ahead of its time is what comes after a gap in a file. Others are only a frame early, and say nothing of a stream
  // that is silent.
  if (self->paced_ && !self->live_) {
    const int64_t early =
        *time + self->sink_offset_ - int64_t(gst_element_get_current_running_time(self->sink_));
    if (early > kGap) self->waits_until_ = (wall_ns() + early) / 1000;
  }
  return GST_PAD_PROBE_OK;
}

GstPadProbeReturn Pipeline::on_encoder_input(GstPad *, GstPadProbeInfo *info, gpointer data) {
  auto *self = static_cast<Pipeline *>(data);
  self->encoder_moved_ = g_get_monotonic_time();
  self->changes_.frame(GST_PAD_PROBE_INFO_BUFFER(info));
  return GST_PAD_PROBE_OK;
}

}  // namespace monitor
