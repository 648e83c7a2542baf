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
  std::string version;            // e.g. "vmaf_v0.6.1"; empty if path is set
  std::string path;               // a libvmaf model JSON
  std::string label;              // name of the score; empty means default_label()
  bool enable_transform = false;  // no effect on a model without a transform
  bool disable_clip = false;
  // Options laid over the model's own: extractor -> option -> value.
  std::map<std::string, OptionTexts, std::less<>> overloads;
};

// Parses the element's `model` property: models separated by '|', each NAME, version=NAME or path=FILE,
// then ':'-separated name=LABEL, enable_transform=true, disable_clip=true, EXTRACTOR.OPTION=VALUE;
// '\' takes the next character literally. Names and labels hold [A-Za-z0-9_.+-]; labels must differ.
// An empty text means no model. Errors quote the piece that is wrong and say what may stand there.
Result<std::vector<ModelRequest>> parse_models(std::string_view text);

// The label of a request that gives none: the version, or the file's name without folder and extension.
std::string default_label(const ModelRequest &request);

enum class ModelSource { file, fitted };
std::string_view to_string(ModelSource source);  // "file", "fitted"

// A feature that a model reads: an extractor's output under the options the model asks for.
struct ModelFeature {
  std::string output;   // internal name, e.g. VMAF_integer_feature_adm2_score
  OptionTexts options;  // normalised
};

class Model {
 public:
  virtual ~Model() = default;

  const std::string &label() const { return label_; }
  // Names of the scores: the label, and for a bootstrap collection LABEL_0001 … (its members), LABEL_bagging,
  // LABEL_stddev, LABEL_ci_p95_lo and LABEL_ci_p95_hi.
  const std::vector<std::string> &scores() const { return scores_; }
  ModelSource source() const { return source_; }
  const std::string &origin() const { return origin_; }  // the file's path, or "" for a fitted surface
  const std::vector<ModelFeature> &features() const { return features_; }

  // All scores() from the features in the order of features(); one thread at a time. `extrapolated` is set, never
  // cleared, when the features lie outside the box that a fitted surface covers (the score is then that of the
  // nearest point of the box). Features that are not finite give a score that may not be finite either.
  virtual void predict(std::span<const double> features, std::span<double> scores, bool *extrapolated) = 0;

 protected:
  std::string label_, origin_;
  std::vector<std::string> scores_;
  ModelSource source_ = ModelSource::file;
  std::vector<ModelFeature> features_;
};

// Loads `path`, or NAME.json from the first folder of model_folders() that has it; without such a file takes the
// engine's fitted surface. A file that is there but damaged is an error, which names file and key. If there is
// nothing of that name, the error lists the names that need no file, the folders searched and where files come from.
Result<std::unique_ptr<Model>> load_model(const ModelRequest &request);

// Where model files are looked up by name, in this order: VMAFHIP_MODEL_PATH (colon-separated),
// $XDG_DATA_HOME and $XDG_DATA_DIRS + /vmafhip/model and /vmaf/model, /usr/local/share/model, /usr/share/model.
std::vector<std::string> model_folders();

// Versions that have a fitted surface and so need no file.
std::span<const std::string_view> fitted_versions();

}  // namespace vmafhip
