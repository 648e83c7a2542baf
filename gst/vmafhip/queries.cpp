// What the pads answer: caps, memory, latency.
#include "gst/vmafhip/body.h"
#include "gst/vmafhip/caps.h"

using namespace vmafhip;

// Which GPU may be shared with neighbours, by the properties.
struct GpuWish {
  Backend backend;
  int device;
};
static GpuWish gpu_wish(Vmafhip *self) {
  GST_OBJECT_LOCK(self);
  const GpuWish wish{self->body->settings.backend, self->body->settings.device};
  GST_OBJECT_UNLOCK(self);
  return wish;
}

static GstCaps *narrow(GstCaps *caps, GstCaps *filter) {
  if (!filter) return caps;
  GstCaps *narrowed = gst_caps_intersect_full(filter, caps, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref(caps);
  return narrowed;
}

// What the template allows, less the memory of GPUs that cannot be read.
static GstCaps *own_caps(Vmafhip *self, GstPad *pad) {
  GstCaps *caps = gst_caps_make_writable(gst_pad_get_pad_template_caps(pad));
  for (const GpuMemoryKind &kind : gpu_memory_kinds()) {
    if (self->body->comparer.sharing().offers(kind, gpu_wish(self).backend)) continue;
    for (guint i = gst_caps_get_size(caps); i-- > 0;)
      if (gst_caps_features_contains(gst_caps_get_features(caps, i), kind.feature))
        gst_caps_remove_structure(caps, i);
  }
  return caps;
}

static bool context_query(Vmafhip *self, GstQuery *query) {
  const GpuWish wish = gpu_wish(self);
  return self->body->comparer.sharing().answer(query, wish.backend, wish.device);
}

static GstCaps *caps_through(Vmafhip *self, GstPad *pad, GstPad *far, GstCaps *filter) {
  CapsPtr mine(own_caps(self, pad));
  GstCaps *caps = gst_pad_peer_query_caps(far, mine.get());  // all that the template allows if not linked
  return narrow(caps, filter);
}

gboolean vmafhip::sink_query(GstPad *pad, GstObject *parent, GstQuery *query) {
  Vmafhip *self = VMAFHIP(parent);
  switch (GST_QUERY_TYPE(query)) {
    case GST_QUERY_CAPS: {
      GstCaps *filter;
      gst_query_parse_caps(query, &filter);
      const bool passes_on = pad == output_pad(self);
      CapsPtr caps(passes_on ? caps_through(self, pad, self->src, filter)
                             : narrow(own_caps(self, pad), filter));
      gst_query_set_caps_result(query, caps.get());
      return TRUE;
    }
    case GST_QUERY_ALLOCATION: {
      gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);
      gst_query_add_allocation_meta(query, GST_VIDEO_CROP_META_API_TYPE, nullptr);
      GstAllocationParams cache_lines;
      gst_allocation_params_init(&cache_lines);
      cache_lines.align = 63;
      gst_query_add_allocation_param(query, nullptr, &cache_lines);
      GstCaps *caps;
      gst_query_parse_allocation(query, &caps, nullptr);
      GstVideoInfo info;
      if (caps && video_info(caps, info))
        gst_query_add_allocation_pool(query, nullptr, guint(GST_VIDEO_INFO_SIZE(&info)),
                                      guint(self->body->comparer.frames_held()), 0);
      return TRUE;
    }
    case GST_QUERY_CONTEXT:
      return context_query(self, query) || gst_pad_query_default(pad, parent, query);
    default:
      // What must be answered in its place among the frames cannot be: the task pushes them later.
      if (GST_QUERY_IS_SERIALIZED(query)) return FALSE;
      return gst_pad_query_default(pad, parent, query);
  }
}

static gboolean latency_query(Vmafhip *self, GstQuery *query) {
  gboolean live = FALSE;
  GstClockTime least = 0, most = GST_CLOCK_TIME_NONE;
  Comparer &comparer = self->body->comparer;
  for (const Side side : {Side::ref, Side::dist}) {
    GstPad *sink = self->sink[size_t(side)];
    GstQuery *one = gst_query_new_latency();
    if (!gst_pad_peer_query(sink, one)) {
      gst_query_unref(one);
      return FALSE;
    }
    gboolean pad_live;
    GstClockTime pad_least, pad_most;
    gst_query_parse_latency(one, &pad_live, &pad_least, &pad_most);
    gst_query_unref(one);
    comparer.deadlines().set_upstream(side, pad_live, pad_least);
    if (!pad_live) continue;
    live = TRUE;
    least = MAX(least, pad_least);
    most = GST_CLOCK_TIME_IS_VALID(most) && GST_CLOCK_TIME_IS_VALID(pad_most) ? MIN(most, pad_most)
           : GST_CLOCK_TIME_IS_VALID(most)                                    ? most
                                                                              : pad_most;
  }
  comparer.inbox().set_live(live);
  if (live) {
    const GstClockTime own = comparer.deadlines().latency();
    least = later(least, own);
    // Frames may also wait for their partners here.
    if (GST_CLOCK_TIME_IS_VALID(most)) most = later(later(most, own), self->body->sync_window);
  }
  gst_query_set_latency(query, live, least, most);
  return TRUE;
}

gboolean vmafhip::src_query(GstPad *pad, GstObject *parent, GstQuery *query) {
  Vmafhip *self = VMAFHIP(parent);
  switch (GST_QUERY_TYPE(query)) {
    case GST_QUERY_LATENCY:
      return latency_query(self, query);
    case GST_QUERY_CAPS: {
      GstCaps *filter;
      gst_query_parse_caps(query, &filter);
      CapsPtr caps(caps_through(self, pad, output_pad(self), filter));
      gst_query_set_caps_result(query, caps.get());
      return TRUE;
    }
    case GST_QUERY_POSITION:
    case GST_QUERY_DURATION:
    case GST_QUERY_SEEKING:
    case GST_QUERY_SEGMENT:
      return gst_pad_peer_query(output_pad(self), query);
    case GST_QUERY_CONTEXT:
      return context_query(self, query) || gst_pad_query_default(pad, parent, query);
    default:
      return gst_pad_query_default(pad, parent, query);
  }
}
