// What the element posts when something is wrong: one message each, with what to do about it. Whether a warning has been
// said already is the caller's affair. Errors end the stream, or keep it from beginning.
#pragma once
#include <gst/gst.h>

#include <chrono>
#include <string>

#include "engine/picture.h"
#include "engine/status.h"
#include "gst/vmafhip/settings.h"

namespace vmafhip {

void post_error(GstElement *element, const Status &status);

// ---- Frames that come, and frames that do not.

// Error: a pad's frames, or its segment, have no time, which pairing needs.
void post_untimed(GstElement *element, GstPad *pad, const GstSegment &segment, SyncMode sync);
// No frame comes on `starved` while frames wait on `waiting`. An error if `fatal`, else a warning.
struct Starvation {
  GstPad *starved, *waiting;
  guint64 frames, bytes;  // that wait
  bool fatal;
};
void post_starving(GstElement *element, const Starvation &starvation, const Settings &settings);
// Warnings: the frames that have come last, running times in ns, are further apart than sync-window; frames of
// sync=content have no room.
void post_far_apart(GstElement *element, GstPad *early, gint64 early_time, GstPad *late, gint64 late_time);
void post_too_little_room(GstElement *element, const Settings &settings);
// Warning: both streams have ended, and no two frames were partners.
void post_nothing_compared(GstElement *element, guint64 ref_frames, guint64 dist_frames,
                           const Settings &settings);

// ---- What comes. Errors, unless they are called warnings.

// Caps that the pad does not take.
void post_unfit_caps(GstElement *element, GstPad *pad, const GstCaps *caps);
// Producers have not finished to write a frame: so far (a warning), and so long that they never will.
void post_unwritten(GstElement *element, GstPad *pad, std::chrono::nanoseconds waited);
Status never_written(GstPad *pad, std::chrono::nanoseconds waited);

// ---- What leaves. Errors.

void post_unlinked_src(GstElement *element);
// What is behind does not take the caps of `origin`.
void post_refused_format(GstElement *element, GstPad *origin);

// ---- What is compared. Warnings.

void post_not_simultaneous(GstElement *element);
void post_no_windows(GstElement *element);
void post_scaled(GstElement *element, const PictureFormat &ref, const PictureFormat &dist, ScaleMethod method,
                 const std::string &note);
void post_no_intervals(GstElement *element);

}  // namespace vmafhip
