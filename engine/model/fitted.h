// Models that the engine carries as fitted surfaces, so that they need no file.
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "engine/model.h"
#include "engine/model/finish.h"
#include "engine/model/model_file.h"
#include "engine/model/surface.h"

namespace vmafhip {

struct FittedModel {
  const Surface *surface;
  std::vector<ModelFeature> features;
  std::optional<ChromaCorrection> chroma;
  Finish finish;
  bool transform_enabled = false;
};

// Null if there is none of that name.
const FittedModel *find_fitted(std::string_view version);

}  // namespace vmafhip
