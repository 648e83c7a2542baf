// What the element says becomes the record: scores, windows, pools, alerts, synchronisation, counters. Frames that are
// among the worst get their pictures once a second, so that a bad stretch does not keep the main loop from its work.
#pragma once
#include <gst/gst.h>

#include <string>
#include <vector>

#include "examples/monitor/record.h"
#include "examples/monitor/thumbnails.h"

namespace monitor {

class Messages {
 public:
  explicit Messages(Record &record) : record_(record) {}

  // A message of the element; `ref` and `dist` have what may be shown of it.
  void element(const GstStructure *message, const Thumbnails &ref, const Thumbnails &dist);
  void warning(const std::string &text, bool about_file);
  // The element's property `stats`, once a second. `stopping`: frames lose their partners as streams are cut off, which is
  // no news.
  void stats(const GstStructure *stats, bool stopping);
  // What content synchronisation found in an earlier run it looks for anew.
  void run_begins();
  // A run is over: its last `stats` have been given, and the next one counts from zero again. How the streams were found
  // in each other stays known.
  void run_ends();

  uint64_t scored() const { return scored_; }            // frames of this run
  uint64_t stream_time() const { return stream_time_; }  // of the frame scored last, ns

 private:
  struct Candidate : WorstFrame {
    ThumbnailPtr small_reference, small_distorted;
  };

  void frame(const GstStructure *message, const Thumbnails &ref, const Thumbnails &dist);
  void alert(const GstStructure *message);
  void sync(const GstStructure *message);
  void keep_worst();
  void tell_dropped(const Counters &now);

  Record &record_;
  uint64_t scored_ = 0, stream_time_ = GST_CLOCK_TIME_NONE;
  Counters before_;                    // of earlier runs
  std::vector<Candidate> candidates_;  // worst first, one of a moment
  Counters told_;                      // up to where dropped frames have been told
  Time next_tell_ = 0, tell_every_ = 0;
  std::string last_warning_;
  int64_t last_warning_time_ = 0;  // g_get_monotonic_time()
};

}  // namespace monitor
