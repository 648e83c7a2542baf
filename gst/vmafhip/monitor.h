// What is said of stretches of scores while the stream runs: `window` and `alert` messages. Owned by the comparing
// thread.
#pragma once
#include <gst/gst.h>

#include <functional>
#include <optional>
#include <vector>

#include "gst/vmafhip/alert.h"
#include "gst/vmafhip/report.h"
#include "gst/vmafhip/window.h"

namespace vmafhip {

class Monitor {
 public:
  using Post = std::function<void(StructurePtr)>;

  // `report` outlives the monitor.
  Monitor(const Report &report, Post post) : report_(report), post_(std::move(post)) {}

  // `window` in ns, 0: none.
  void start(guint64 window, size_t features, size_t models);
  // Frames whose scores may still be awaited when a frame is passed over. Before the first is scored.
  void set_in_flight(int frames) { most_late_ = size_t(frames); }

  // Whether a reference frame at `time` opens a window: scores that belong to the one before should be added before
  // reach() if they can be waited for.
  bool opens_window(gint64 time) const { return clock_.opens(time); }
  // A reference frame, scored or not, is reached: windows before it are over.
  void reach(std::optional<gint64> time, GstClockTime duration, PoolMethod method);
  // The scores of a frame that was reached. If its window is over already, they count in that of the next frame that is
  // scored in time: a window without a score must not seem to have one.
  void scored(const PairInfo &pair, const PictureScores &scores, PoolMethod method, const AlertRule &rule);
  // The stream ends or begins anew.
  void finish(PoolMethod method);

 private:
  void pool(const PictureScores &scores);
  void pool_late();
  void turn_back(PoolMethod method);
  void post_window(const WindowClock::Span &span, PoolMethod method);
  void post_alert(const Alert::Change &change, double score, std::optional<gint64> time);

  const Report &report_;
  Post post_;
  WindowClock clock_;
  std::vector<RunningPool> features_, models_;  // of the open window
  struct Late {
    gint64 time;
    GstClockTime duration;
    PictureScores scores;
  };
  std::vector<Late> late_;  // not in a window yet
  size_t most_late_ = 0;    // if more than that are late, it is time that runs backwards
  Alert alert_;
  AlertRule rule_;                   // that was in force last
  std::optional<gint64> last_time_;  // of the frame scored last
};

}  // namespace vmafhip
