// The element's result file: what the properties ask for, and what is posted when it cannot be written. The file itself
// is the engine's. Owned by the comparing thread.
#pragma once
#include <gst/gst.h>

#include <memory>

#include "engine/results.h"
#include "engine/session.h"
#include "gst/vmafhip/inbox.h"
#include "gst/vmafhip/report.h"
#include "gst/vmafhip/settings.h"

namespace vmafhip {

class Results {
 public:
  // Wakes `inbox` when there is room again.
  Results(GstElement *element, Inbox &inbox) : element_(element), inbox_(inbox) {}

  // Opens the file, if one is wanted, for what `session` gives out until stop(). The error has been posted if false.
  bool start(const Settings &settings, const Session &session);
  // For a stream that can wait: not now.
  bool full() const { return file_ && file_->full() && !inbox_.live(); }
  // The session has been.
  void configure(const PictureFormat &format);
  void frame(guint64 frame_number, const FrameScores &scores);
  // Completes the file and waits for it, for some seconds at most and not when interrupted. Frames may follow.
  void finish(const GstStructure *counters);
  // The last time, interrupted or not.
  void stop(const GstStructure *counters);
  // Posts the warning that the file has failed, once.
  void check();

 private:
  GstElement *element_;
  ResultsFile::Ending ending(const GstStructure *counters) const;

  Inbox &inbox_;
  const Session *session_ = nullptr;
  std::unique_ptr<ResultsFile> file_;
};

}  // namespace vmafhip
