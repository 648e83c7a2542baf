// The element's properties as one value: copied when the element starts.
#pragma once
#include <gst/gst.h>

#include <string>

#include "engine/session.h"
#include "gst/vmafhip/alert.h"
#include "gst/vmafhip/aligner.h"

namespace vmafhip {

// What becomes of a reference frame without partner.
enum class OnMissing { skip, repeat };
// Both with the numbers of gst-plugins-bad's vmaf, as far as it has them.
enum class ResultsChoice { none, xml, json, csv, sub, automatic };
enum class LogLevel { none, error, warning, info, debug };

struct Settings {
  std::string model = "vmaf_v0.6.1", features;
  Backend backend = Backend::automatic;
  gint device = -1;
  guint threads = 0;
  guint subsample = 1;
  SyncMode sync = SyncMode::timestamp;
  gint64 tolerance = -1;
  guint64 sync_window = 5 * GST_SECOND;
  guint64 max_queue_bytes = guint64(512) << 20;
  ScaleMethod scale_method = ScaleMethod::bicubic;
  Side output = Side::ref;
  bool attach_meta = true;
  gint64 max_score_delay = -1;
  OnMissing on_missing = OnMissing::skip;
  std::string results_filename;
  ResultsChoice results_format = ResultsChoice::automatic;
  guint64 window = 0;
  std::string score_source;
  std::string message_name = "vmafhip";
  // Of gst-plugins-bad's vmaf, see dropin.h:
  std::string model_filename;
  bool psnr = false, ssim = false, ms_ssim = false;
  bool disable_clip = false, enable_transform = false, phone_model = false, conf_interval = false;
  LogLevel log_level = LogLevel::none;
  // May change while playing:
  bool frame_message = true;
  PoolMethod pool_method = PoolMethod::mean;
  AlertRule alert;
};

}  // namespace vmafhip
