// What leaves on the src pad: every frame of the selected stream once, in order, with its own time stamps;
// scored ones with the score attached. Owned by the comparing thread.
#pragma once
#include <gst/gst.h>

#include <atomic>
#include <deque>

#include "gst/vmafhip/handles.h"
#include "gst/vmafhip/stream.h"

namespace vmafhip {

// Name of the GstCustomMeta on scored buffers.
inline constexpr const char *kScoreMeta = "VmafHipScore";

class Output {
 public:
  // `origin`: the sink pad whose stream leaves on `src`.
  Output(GstPad *src, GstPad *origin) : src_(src), origin_(origin) {}

  // A frame or event takes its place in the output. A frame stays until it is settled.
  guint64 hold(BufferPtr buffer, std::shared_ptr<const Stream> stream);
  void hold(EventPtr event, std::shared_ptr<const Stream> stream);
  // The frame may leave; `score`, if any, is copied into its meta. Settling twice is allowed.
  void settle(guint64 ticket, const GstStructure *score = nullptr);

  // Pushes from the front what may leave, until `stop`. NOT_NEGOTIATED also if downstream refused the caps.
  GstFlowReturn release(const std::atomic<bool> &stop);
  void push_eos();
  // Drops what is held; caps and segment are sent again before the next frame.
  void clear();

 private:
  struct Entry {
    BufferPtr buffer;  // or
    EventPtr event;
    std::shared_ptr<const Stream> stream;
    StructurePtr score;
    bool settled = false;
  };
  bool announce(const std::shared_ptr<const Stream> &stream);
  void push_stream_start();
  GstFlowReturn push(Entry entry);

  GstPad *src_, *origin_;
  std::deque<Entry> entries_;
  guint64 first_ = 0;  // ticket of entries_.front()
  std::shared_ptr<const Stream> sent_;
  std::deque<EventPtr> early_;  // came before caps and segment, and must follow them
  bool started_ = false;        // stream-start is out
};

}  // namespace vmafhip
