#include "engine/model/fitted.h"

#include <array>

#include "engine/model/surface_data.h"

namespace vmafhip {
namespace {

constexpr std::array<std::string_view, 4> kVersions = {"vmaf_v0.6.1", "vmaf_v0.6.1neg", "vmaf_4k_v0.6.1",
                                                       "vmaf_4k_v0.6.1neg"};

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

FittedModel make(std::string_view version) {
  const bool neg = version.ends_with("neg"), is_4k = version.starts_with("vmaf_4k");
  FittedModel model;
  model.surface = is_4k ? &surface_4k_v061 : &surface_v061;
  model.features = features_v06(neg);
  if (!is_4k) model.finish.transform = transform_v061();
  model.finish.clip = {0, 100};
  return model;
}

}  // namespace

const FittedModel *find_fitted(std::string_view version) {
  static const std::array<FittedModel, kVersions.size()> models = {make(kVersions[0]), make(kVersions[1]),
                                                                   make(kVersions[2]), make(kVersions[3])};
  for (size_t i = 0; i < kVersions.size(); ++i)
    if (kVersions[i] == version) return &models[i];
  return nullptr;
}

std::span<const std::string_view> fitted_versions() { return kVersions; }

}  // namespace vmafhip
