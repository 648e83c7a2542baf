// How frames find their partners, in whichever of the ways `sync` names. For `content` it makes the signatures of the
// pictures. Owned by the comparing thread.
#pragma once
#include <array>
#include <optional>

#include "engine/status.h"
#include "gst/vmafhip/content_aligner.h"
#include "gst/vmafhip/frame.h"
#include "gst/vmafhip/picture_reader.h"
#include "gst/vmafhip/settings.h"

namespace vmafhip {

using SyncNews = ContentAligner<QueuedFrame>::News;

class Pairing {
 public:
  // `reader` outlives it.
  explicit Pairing(PictureReader &reader) : reader_(reader) {}
  // By time stamps, until start().
  void start(const Settings &settings);
  // What cannot be: sync=content with nothing to search.
  static Status check(const Settings &settings);

  // Whether it looks at the pictures, which must be written, of frames that are pushed.
  bool looks_at_pictures() const { return content_.has_value(); }
  // The steps of Aligner. push() fails if the frame's picture cannot be read.
  Status push(Side side, FrameAligner::Frame frame);
  void end(Side side);
  bool ended(Side side) const;
  // Ended, and no frame of that side can become a partner any more.
  bool exhausted(Side side) const;
  void reopen(Side side);
  void restart(Side side);
  void advance(Side side, gint64 time);
  gint64 interval(Side side) const;
  FrameAligner::Decision step(bool hurry);

  // sync=content:
  bool by_time() const { return content_ && content_->by_time(); }  // the pictures do not tell
  std::optional<SyncNews> news() { return content_ ? content_->news() : std::nullopt; }
  guint64 bytes() const { return content_ ? content_->bytes() : 0; }  // of frames that wait here
  bool ran_out_of_room() { return content_ && content_->ran_out_of_room(); }

 private:
  PictureReader &reader_;
  FrameAligner aligner_;
  std::optional<ContentAligner<QueuedFrame>> content_;  // instead of aligner_
  std::array<content::Signer, 2> signers_;
};

}  // namespace vmafhip
