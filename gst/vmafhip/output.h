// What leaves on the src pad: every frame of the selected stream once, in order, with its own time stamps;
// scored ones with the score attached. Owned by the comparing thread.
#pragma once
#include <gst/gst.h>

#include <atomic>
#include <deque>
#include <optional>

#include "gst/vmafhip/handles.h"
#include "gst/vmafhip/stream.h"

namespace vmafhip {

// Name of the GstCustomMeta on scored buffers.
inline constexpr const char *kScoreMeta = "VmafHipScore";

class Output {
 public:
  // `origin`: the sink pad whose stream leaves on `src`.
  Output(GstPad *src, GstPad *origin) : src_(src), origin_(origin) {}

  static constexpr guint64 kNoTicket = G_MAXUINT64;

  // A frame or event takes its place in the output. A frame stays until it is settled. `time`: its running time.
  guint64 hold(BufferPtr buffer, std::shared_ptr<const Stream> stream, gint64 time);
  // At most kMostEvents wait behind frames; a further one is dropped, with a warning in the log.
  void hold(EventPtr event, std::shared_ptr<const Stream> stream);
  static constexpr size_t kMostEvents = 1000;
  // The frame may leave; `score`, if any, goes into its meta. Settling twice is allowed. False: it has left.
  bool settle(guint64 ticket, StructurePtr score = nullptr);

  // That frame, and all before it, may leave without score.
  void settle_up_to(guint64 ticket);

  // The frame that all others wait for, if the first one in line is not settled.
  struct Awaited {
    guint64 ticket;
    gint64 time;
  };
  std::optional<Awaited> awaited() const;

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
    gint64 time = 0;
    bool settled = false;
  };
  bool announce(const std::shared_ptr<const Stream> &stream);
  void push_stream_start();
  GstFlowReturn push(Entry entry);

  GstPad *src_, *origin_;
  std::deque<Entry> entries_;
  size_t events_ = 0;  // among them and in early_
  guint64 first_ = 0;  // ticket of entries_.front()
  std::shared_ptr<const Stream> sent_;
  std::deque<EventPtr> early_;  // came before caps and segment, and must follow them
  bool started_ = false;        // stream-start is out
};

}  // namespace vmafhip
