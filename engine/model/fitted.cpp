#include "engine/model/fitted.h"

#include <array>

#include "engine/model/surface_data.h"

namespace vmafhip {
namespace {

constexpr std::array<std::string_view, 12> kVersions = {
    "vmaf_v0.6.1",           "vmaf_v0.6.1neg",
    "vmaf_4k_v0.6.1",        "vmaf_4k_v0.6.1neg",
    "vmaf_v1.0.16_3d0h",     "vmaf_v1.0.16_3d0h_2160",
    "vmaf_v1.0.16_5d0h",     "vmaf_v1.0.16_1d5h_2160",
    "vmaf_v1.0.16_hfr_3d0h", "vmaf_v1.0.16_hfr_3d0h_2160",
    "vmaf_v1.0.16_hfr_5d0h", "vmaf_v1.0.16_hfr_1d5h_2160",
};

// "No enhancement gain": adm and vif must not reward a picture that is sharper than its reference.
std::vector<ModelFeature> features_v06(bool neg) {
  const OptionTexts adm = neg ? OptionTexts{{"adm_enhn_gain_limit", "1"}} : OptionTexts{};
  const OptionTexts vif = neg ? OptionTexts{{"vif_enhn_gain_limit", "1"}} : OptionTexts{};
  return {{"VMAF_integer_feature_adm2_score", adm},       {"VMAF_integer_feature_motion2_score", {}},
          {"VMAF_integer_feature_vif_scale0_score", vif}, {"VMAF_integer_feature_vif_scale1_score", vif},
          {"VMAF_integer_feature_vif_scale2_score", vif}, {"VMAF_integer_feature_vif_scale3_score", vif}};
}

// The "phone" transform, which only vmaf_v0.6.1 and its relatives have.
Transform transform_v061() {
  Transform transform;
  transform.p0 = 1.70674692;
  transform.p1 = 1.72643844;
  transform.p2 = -0.00705305;
  transform.out_gte_in = true;
  return transform;
}

FittedModel make_v06(std::string_view version) {
  const bool neg = version.ends_with("neg"), is_4k = version.starts_with("vmaf_4k");
  FittedModel model;
  model.surface = is_4k ? &surface_4k_v061 : &surface_v061;
  model.features = features_v06(neg);
  if (!is_4k) model.finish.transform = transform_v061();
  model.finish.clip = {0, 100};
  return model;
}

// One regression for all viewing conditions: vmaf_v1.0.16[_hfr]_<distance in picture heights>h[_<display's lines>].
// They differ in the features' options and in what follows the regression.
FittedModel make_v1016(std::string_view version) {
  const bool hfr = version.find("_hfr") != version.npos, is_2160 = version.ends_with("_2160");
  const bool at_1_5 = version.find("_1d5h") != version.npos, at_5 = version.find("_5d0h") != version.npos;

  OptionTexts adm = {{"adm_dlm_weight", "0.7"},
                     {"adm_enhn_gain_limit", "1"},
                     {"adm_noise_weight", "0.02"},
                     {"adm_norm_view_dist", "3"},
                     {"adm_min_val", "0.5"},
                     {"adm_csf_mode", "2"},
                     {"adm_ref_display_height", is_2160 ? "2160" : "1080"}};
  OptionTexts speed = {{"speed_nn_floor", "0.1"},
                       {"speed_sigma_nn", "0.19"},
                       {"speed_weight_var_mode", "5"},
                       {"speed_max_val", "45"}};
  OptionTexts motion = {{"motion_max_val", "18"}};
  if (at_1_5) adm["adm_norm_view_dist"] = "1.5";
  if (at_5) adm["adm_norm_view_dist"] = "5";
  if (at_5 || (is_2160 && !at_1_5)) {  // seen from so far, the finest details count for nothing
    speed["speed_prescale"] = at_5 ? "0.6" : "0.5";
    speed["speed_prescale_method"] = "bilinear";
  } else if (!at_1_5) {
    speed["speed_kernelscale"] = "1";
  }
  if (hfr) motion["motion_five_frame_window"] = motion["motion_moving_average"] = "true";

  FittedModel model;
  model.surface = &surface_v1016;
  model.features = {
      {"Cambi_feature_cambi_score",
       {{"cambi_high_res_speedup", "1080"}, {"cambi_vis_lum_threshold", "0.06"}, {"cambi_max_val", "17"}}},
      {"Speed_chroma_feature_speed_chroma_uv_score", speed},
      {"VMAF_integer_feature_adm3_score", adm},
      {"VMAF_integer_feature_motion3_score", motion}};
  model.chroma = ChromaCorrection{.parameter = 120, .guiding = 2, .guided = 1};
  model.finish.transform.emplace();
  Transform &transform = *model.finish.transform;
  transform.p0 = at_1_5 ? 0 : is_2160 ? 5 : 5.30624188;
  transform.p1 = is_2160 ? 1 : 0.980791305;
  transform.p2 = is_2160 ? 0 : -0.000490758318;
  model.transform_enabled = true;
  model.finish.clip = {0, is_2160 && !at_1_5 ? 110.0 : 100.0};
  return model;
}

std::array<FittedModel, kVersions.size()> make_all() {
  std::array<FittedModel, kVersions.size()> all;
  for (size_t i = 0; i < all.size(); ++i)
    all[i] = kVersions[i].starts_with("vmaf_v1") ? make_v1016(kVersions[i]) : make_v06(kVersions[i]);
  return all;
}

}  // namespace

const FittedModel *find_fitted(std::string_view version) {
  static const auto models = make_all();
  for (size_t i = 0; i < kVersions.size(); ++i)
    if (kVersions[i] == version) return &models[i];
  return nullptr;
}

std::span<const std::string_view> fitted_versions() { return kVersions; }

}  // namespace vmafhip
