// The fitted tables, one file each, written by tests/tools/fit_model.
#pragma once
#include "engine/model/surface.h"

namespace vmafhip {

// Inputs: adm2, motion2, vif_scale0, vif_scale1, vif_scale2, vif_scale3.
extern const Surface surface_v061;     // vmaf_v0.6.1, vmaf_v0.6.1neg
extern const Surface surface_4k_v061;  // vmaf_4k_v0.6.1, vmaf_4k_v0.6.1neg

// Inputs: cambi, speed_chroma_uv, adm3, motion3.
extern const Surface surface_v1016;  // the eight vmaf_v1.0.16

}  // namespace vmafhip
