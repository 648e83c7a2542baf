#include "gst/vmafhip/upstream.h"

#include <algorithm>
#include <vector>

namespace vmafhip {
namespace {

// Elements from which data may reach a sink pad; each is referenced.
class Upstream {
 public:
  explicit Upstream(GstPad *sink) { add_from(sink); }
  ~Upstream() {
    for (GstElement *element : elements_) gst_object_unref(element);
  }
  Upstream(const Upstream &) = delete;

  bool has(GstElement *element) const {
    return std::find(elements_.begin(), elements_.end(), element) != elements_.end();
  }
  bool meets(const Upstream &other) const {
    return std::any_of(elements_.begin(), elements_.end(), [&](GstElement *e) { return other.has(e); });
  }

 private:
  void add_from(GstPad *sink) {
    GstPad *pad = gst_pad_get_peer(sink);
    while (pad) {
      GstPad *next;
      if (GST_IS_GHOST_PAD(pad))  // out of a bin: on inside
        next = gst_ghost_pad_get_target(GST_GHOST_PAD(pad));
      else if (GST_IS_PROXY_PAD(pad)) {  // the inner side of a bin's sink pad: on outside
        GstProxyPad *outside = gst_proxy_pad_get_internal(GST_PROXY_PAD(pad));
        next = outside ? gst_pad_get_peer(GST_PAD(outside)) : nullptr;
        if (outside) gst_object_unref(outside);
      } else {
        add(pad);
        next = nullptr;
      }
      gst_object_unref(pad);
      pad = next;
    }
  }
  void add(GstPad *src) {
    GstElement *element = gst_pad_get_parent_element(src);
    if (!element) return;
    if (has(element)) return gst_object_unref(element);
    elements_.push_back(element);
    const auto further = [](GstElement *, GstPad *pad, gpointer self) -> gboolean {
      static_cast<Upstream *>(self)->add_from(pad);
      return TRUE;
    };
    gst_element_foreach_sink_pad(element, further, this);
  }

  std::vector<GstElement *> elements_;
};

}  // namespace

bool have_common_source(GstPad *a, GstPad *b) { return Upstream(a).meets(Upstream(b)); }

}  // namespace vmafhip
