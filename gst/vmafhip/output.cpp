#include "gst/vmafhip/output.h"

#include <utility>

#include "gst/vmafhip/log.h"
#include "gst/vmafhip/mapping.h"

#define GST_CAT_DEFAULT vmafhip_debug

namespace vmafhip {

guint64 Output::hold(BufferPtr buffer, std::shared_ptr<const Stream> stream, gint64 time) {
  entries_.push_back({std::move(buffer), nullptr, std::move(stream), nullptr, time, false});
  return first_ + entries_.size() - 1;
}

void Output::hold(EventPtr event, std::shared_ptr<const Stream> stream) {
  if (events_ == kMostEvents) {
    GST_WARNING_OBJECT(src_, "%zu events wait already: %" GST_PTR_FORMAT " is dropped", events_, event.get());
    return;
  }
  ++events_;
  entries_.push_back({nullptr, std::move(event), std::move(stream), nullptr, 0, true});
}

bool Output::settle(guint64 ticket, StructurePtr score) {
  if (ticket < first_ || ticket - first_ >= entries_.size()) return false;
  Entry &entry = entries_[ticket - first_];
  entry.settled = true;
  if (score) entry.score = std::move(score);
  return true;
}

void Output::settle_up_to(guint64 ticket) {
  for (guint64 t = first_; t <= ticket && t - first_ < entries_.size(); ++t) settle(t);
}

std::optional<Output::Awaited> Output::awaited() const {
  if (entries_.empty() || entries_.front().settled) return {};
  return Awaited{first_, entries_.front().time};
}

GstFlowReturn Output::release(const std::atomic<bool> &stop) {
  while (!stop && !entries_.empty() && entries_.front().settled) {
    Entry entry = std::move(entries_.front());
    entries_.pop_front();
    ++first_;
    if (entry.event) {
      if (!entry.stream) {
        early_.push_back(std::move(entry.event));
        continue;
      }
      --events_;
      if (announce(entry.stream)) gst_pad_push_event(src_, entry.event.release());
      continue;
    }
    if (const GstFlowReturn flow = push(std::move(entry)); flow != GST_FLOW_OK) return flow;
  }
  return GST_FLOW_OK;
}

void Output::push_stream_start() {
  if (std::exchange(started_, true)) return;
  GstEvent *event = gst_pad_get_sticky_event(origin_, GST_EVENT_STREAM_START, 0);
  if (!event) {  // ended before it began; GStreamer makes ids for elements with one sink pad at most
    gchar *id = g_strdup_printf("vmafhip-%08x%08x", g_random_int(), g_random_int());
    event = gst_event_new_stream_start(id);
    g_free(id);
  }
  gst_pad_push_event(src_, event);
}

bool Output::announce(const std::shared_ptr<const Stream> &stream) {
  if (stream == sent_) return true;
  push_stream_start();
  if (!sent_ || !gst_caps_is_equal(sent_->caps.get(), stream->caps.get()))
    if (!gst_pad_push_event(src_, gst_event_new_caps(stream->caps.get()))) return false;
  if (!sent_ || sent_->segment_seqnum != stream->segment_seqnum ||
      !gst_segment_is_equal(&sent_->segment, &stream->segment)) {
    GstEvent *event = gst_event_new_segment(&stream->segment);
    gst_event_set_seqnum(event, stream->segment_seqnum);
    gst_pad_push_event(src_, event);
  }
  sent_ = stream;
  events_ -= early_.size();
  for (EventPtr &event : std::exchange(early_, {})) gst_pad_push_event(src_, event.release());
  return true;
}

GstFlowReturn Output::push(Entry entry) {
  if (!announce(entry.stream)) {
    // False also stands for "not linked" and "flushing", which the push below tells apart.
    if (!gst_pad_is_linked(src_)) return GST_FLOW_NOT_LINKED;
    return GST_PAD_IS_FLUSHING(src_) ? GST_FLOW_FLUSHING : GST_FLOW_NOT_NEGOTIATED;
  }
  // The very buffer that came in, if nobody else holds it: a pool then gets it back and reuses it. With
  // another reader (tee, engine) it is a copy that shares the memory, and nobody sees a change.
  GstBuffer *buffer = gst_buffer_ref(entry.buffer.get());
  entry.buffer.reset();
  buffer = without_crop_meta(buffer, entry.stream->info);
  if (entry.score) {
    buffer = gst_buffer_make_writable(buffer);
    if (GstCustomMeta *meta = gst_buffer_add_custom_meta(buffer, kScoreMeta)) {
      auto copy = [](GQuark field, const GValue *value, gpointer to) -> gboolean {
        gst_structure_id_set_value(static_cast<GstStructure *>(to), field, value);
        return TRUE;
      };
      gst_structure_foreach(entry.score.get(), copy, gst_custom_meta_get_structure(meta));
    }
  }
  return gst_pad_push(src_, buffer);
}

void Output::push_eos() {
  push_stream_start();
  GstEvent *event = gst_event_new_eos();
  if (sent_) gst_event_set_seqnum(event, sent_->segment_seqnum);
  gst_pad_push_event(src_, event);
}

void Output::clear() {
  first_ += entries_.size();
  entries_.clear();
  early_.clear();
  events_ = 0;
  sent_.reset();
}

}  // namespace vmafhip
