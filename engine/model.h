// VMAF models: from feature scores of one frame to its VMAF score.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/options.h"
#include "engine/status.h"

namespace vmafhip {

// One model as the user asks for it.
struct ModelRequest {
  std::string version;  // e.g. "vmaf_v0.6.1"; empty if path is set
  std::string path;     // a libvmaf model JSON
  std::string label;    // name of the score; defaults to the version or the file's stem
  bool enable_transform = false;
  bool disable_clip = false;
  // Options laid over the model's own: extractor -> option -> value.
  std::map<std::string, OptionTexts, std::less<>> overloads;
};

// Parses the element's `model` property: models separated by '|', each NAME, version=NAME or path=FILE,
// then ':'-separated name=LABEL, enable_transform=true, disable_clip=true, EXTRACTOR.OPTION=VALUE;
// '\' escapes ':', '|' and '\'. Labels must differ. An empty text means no model.
Result<std::vector<ModelRequest>> parse_models(std::string_view text);

enum class ModelSource { file, fitted };
std::string_view to_string(ModelSource source);  // "file", "fitted"

// A feature that a model reads: an extractor's output under the options the model asks for.
struct ModelFeature {
  std::string output;  // internal name, e.g. VMAF_integer_feature_adm2_score
  OptionTexts options;  // normalised
};

class Model {
 public:
  virtual ~Model() = default;

  const std::string &label() const { return label_; }
  ModelSource source() const { return source_; }
  const std::string &origin() const { return origin_; }  // the file's path, or "" for a fitted surface
  const std::vector<ModelFeature> &features() const { return features_; }

  // The score from the features in the order of features(); any thread. `extrapolated` is set, never
  // cleared, when the features lie outside the box that a fitted surface covers.
  virtual double predict(std::span<const double> features, bool *extrapolated) const = 0;

 protected:
  std::string label_, origin_;
  ModelSource source_ = ModelSource::file;
  std::vector<ModelFeature> features_;
};

// Loads from a file if one is found (see model_folders), else takes the engine's fitted surface. The error
// lists the names that need no file and the folders searched.
Result<std::unique_ptr<Model>> load_model(const ModelRequest &request);

// Where model files are looked up by name, in this order: VMAFHIP_MODEL_PATH (colon-separated),
// $XDG_DATA_HOME and $XDG_DATA_DIRS + /vmafhip/model and /vmaf/model, /usr/local/share/model, /usr/share/model.
std::vector<std::string> model_folders();

// Versions that have a fitted surface and so need no file.
std::span<const std::string_view> fitted_versions();

}  // namespace vmafhip
