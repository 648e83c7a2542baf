// Finds a model, a file or a fitted surface, and gives both the same face.
#include "engine/model.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <new>

#include "engine/model/collection.h"
#include "engine/model/fitted.h"
#include "engine/model/model_file.h"
#include "engine/model/refused.h"
#include "engine/registry.h"
#include "engine/text.h"

namespace vmafhip {
namespace {

// The transform if the model or the user turns it on, the clip unless the user turns it off.
Finish select(Finish finish, bool transform_enabled, const ModelRequest &request) {
  if (!transform_enabled && !request.enable_transform) finish.transform.reset();
  if (request.disable_clip) finish.clip.reset();
  return finish;
}

// Lays `overloads` over the options of the features that each extractor provides.
void apply(const std::map<std::string, OptionTexts, std::less<>> &overloads, const std::string &label,
           std::vector<ModelFeature> &features) {
  std::vector<std::string> used;  // extractors
  for (ModelFeature &feature : features) {
    const Extractor *provider = find_provider(feature.output);
    if (!provider) continue;
    if (std::find(used.begin(), used.end(), provider->name) == used.end()) used.push_back(provider->name);
    const auto overload = overloads.find(std::string_view(provider->name));
    if (overload == overloads.end()) continue;
    for (const auto &[option, value] : overload->second)
      feature.options[option] = normalised_option(provider->options, option, value);
  }
  for (const auto &[extractor, options] : overloads)
    if (std::find(used.begin(), used.end(), extractor) == used.end())
      refuse("model " + label + " does not use the extractor " + in_quotes(extractor) + " of " +
             in_quotes(extractor + "." + options.begin()->first) + "; it uses: " + join(used));
}

// What all kinds of model have in common.
class Loaded : public Model {
 public:
  Loaded(const ModelRequest &request, ModelSource source, std::string origin,
         std::vector<ModelFeature> features) {
    label_ = request.label.empty() ? default_label(request) : request.label;
    scores_ = {label_};
    source_ = source;
    origin_ = std::move(origin);
    features_ = std::move(features);
    apply(request.overloads, label_, features_);
  }
};

class FileModel : public Loaded {
 public:
  FileModel(ModelFile file, std::string path, const ModelRequest &request)
      : Loaded(request, ModelSource::file, std::move(path), file.features), file_(std::move(file)) {}

  void predict(std::span<const double> features, std::span<double> scores, bool *) override {
    scores[0] = file_.finish(predict_raw(file_, features));
  }

 private:
  ModelFile file_;
};

bool same(const ModelFeature &a, const ModelFeature &b) {
  return a.output == b.output && a.options == b.options;
}

// All features of a collection's models, each once.
std::vector<ModelFeature> all_features(const ModelSet &set) {
  std::vector<ModelFeature> all = set.base.features;
  for (const ModelFile &member : set.members)
    for (const ModelFeature &feature : member.features)
      if (std::none_of(all.begin(), all.end(), [&](const ModelFeature &f) { return same(f, feature); }))
        all.push_back(feature);
  return all;
}

class BootstrapModel : public Loaded {
 public:
  BootstrapModel(ModelSet set, std::string path, const ModelRequest &request)
      : Loaded(request, ModelSource::file, std::move(path), all_features(set)),
        base_(std::move(set.base)),
        collection_(std::move(set.members)) {
    const std::vector<std::string> more = collection_.names(label_);
    scores_.insert(scores_.end(), more.begin(), more.end());
    const std::vector<ModelFeature> all = all_features({base_, collection_.members()});
    for (const ModelFile &member : collection_.members()) {
      std::vector<size_t> places;
      for (const ModelFeature &feature : member.features)
        places.push_back(size_t(
            std::find_if(all.begin(), all.end(), [&](const ModelFeature &f) { return same(f, feature); }) -
            all.begin()));
      places_.push_back(std::move(places));
    }
    raw_.resize(collection_.members().size());
  }

  void predict(std::span<const double> features, std::span<double> scores, bool *) override {
    scores[0] = base_.finish(predict_raw(base_, features));  // whose features come first
    for (size_t i = 0; i < raw_.size(); ++i) {
      inputs_.clear();
      for (const size_t place : places_[i]) inputs_.push_back(features[place]);
      raw_[i] = predict_raw(collection_.members()[i], inputs_);
    }
    collection_.score(raw_, scores.subspan(1));
  }

 private:
  const ModelFile base_;
  const Collection collection_;
  std::vector<std::vector<size_t>> places_;  // per member and feature: index into features()
  std::vector<double> raw_, inputs_;
};

class FittedSurface : public Loaded {
 public:
  FittedSurface(const FittedModel &fitted, const ModelRequest &request)
      : Loaded(request, ModelSource::fitted, "", fitted.features),
        surface_(*fitted.surface),
        chroma_(fitted.chroma),
        finish_(select(fitted.finish, fitted.transform_enabled, request)) {}

  void predict(std::span<const double> features, std::span<double> scores, bool *extrapolated) override {
    inputs_.assign(features.begin(), features.end());
    if (chroma_ && inputs_[chroma_->guided] == 0.0)
      inputs_[chroma_->guided] = chroma_->parameter * (1 - inputs_[chroma_->guiding]);
    scores[0] = finish_(evaluate(surface_, inputs_, extrapolated));
  }

 private:
  const Surface &surface_;
  const std::optional<ChromaCorrection> chroma_;
  std::vector<double> inputs_;
  const Finish finish_;
};

std::unique_ptr<Model> from_file(const std::string &path, const ModelRequest &request) {
  ModelSet set = read_model_file(path);
  set.base.finish = select(set.base.finish, set.base.transform_enabled, request);
  for (ModelFile &member : set.members)
    member.finish = select(member.finish, member.transform_enabled, request);
  if (set.members.empty()) return std::make_unique<FileModel>(std::move(set.base), path, request);
  return std::make_unique<BootstrapModel>(std::move(set), path, request);
}

std::string find_file(const std::string &version) {
  for (const std::string &folder : model_folders()) {
    std::vector<std::string> names = {version + ".json"};
    if (version.ends_with(".json")) names.insert(names.begin(), version);
    for (const std::string &name : names) {
      struct stat info {};
      const std::string path = folder + "/" + name;
      if (stat(path.c_str(), &info) == 0) return path;
    }
  }
  return {};
}

[[noreturn]] void refuse_unknown(const std::string &version) {
  std::vector<std::string> names(fitted_versions().begin(), fitted_versions().end());
  throw Refused{Code::not_found,
                "there is no model " + in_quotes(version) + ". Models that need no file: " + join(names) +
                    ". Others need their file " + version + (version.ends_with(".json") ? "" : ".json") +
                    ", from the folder 'model' of Netflix's vmaf sources, in one of: " +
                    join(model_folders()) + "; or give it as path=FILE"};
}

std::unique_ptr<Model> load(const ModelRequest &request) {
  if (request.version.empty() && request.path.empty()) refuse("a model needs a name or a path");
  const std::string path = request.path.empty() ? find_file(request.version) : request.path;
  if (!path.empty()) return from_file(path, request);
  if (const FittedModel *fitted = find_fitted(request.version))
    return std::make_unique<FittedSurface>(*fitted, request);
  refuse_unknown(request.version);
}

}  // namespace

std::string_view to_string(ModelSource source) { return source == ModelSource::file ? "file" : "fitted"; }

Result<std::unique_ptr<Model>> load_model(const ModelRequest &request) {
  try {
    return load(request);
  } catch (const Refused &refused) {
    return Status(refused.code, refused.message);
  } catch (const std::bad_alloc &) {
    return Status(Code::resource, "not enough memory for model " + in_quotes(request.version + request.path));
  }
}

std::vector<std::string> model_folders() {
  std::vector<std::string> folders;
  const auto add = [&](const std::string &folder) {
    if (std::find(folders.begin(), folders.end(), folder) == folders.end()) folders.push_back(folder);
  };
  const auto variable = [](const char *name) {
    const char *value = std::getenv(name);
    return std::string(value ? value : "");
  };
  const auto each = [](std::string_view list, const auto &use) {
    while (!list.empty()) {
      const size_t end = std::min(list.find(':'), list.size());
      if (end > 0) use(std::string(list.substr(0, end)));
      list.remove_prefix(std::min(end + 1, list.size()));
    }
  };
  const auto add_data_folder = [&](const std::string &folder) {
    if (!folder.starts_with('/')) return;  // to be ignored, says the XDG specification
    add(folder + "/vmafhip/model");
    add(folder + "/vmaf/model");
  };

  each(variable("VMAFHIP_MODEL_PATH"), add);

  if (const std::string home = variable("XDG_DATA_HOME"); !home.empty())
    add_data_folder(home);
  else
    add_data_folder(variable("HOME") + "/.local/share");
  const std::string system = variable("XDG_DATA_DIRS");
  each(system.empty() ? "/usr/local/share:/usr/share" : system, add_data_folder);
  add("/usr/local/share/model");
  add("/usr/share/model");
  return folders;
}

}  // namespace vmafhip
