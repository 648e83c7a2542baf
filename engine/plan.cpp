#include "engine/plan.h"

#include <algorithm>

#include "engine/text.h"

namespace vmafhip {
namespace {

struct FeatureRequest {
  std::string extractor;
  OptionTexts options;
};

std::string extractor_names() {
  std::vector<std::string> names;
  for (const Extractor *e : extractors()) names.push_back(e->name);
  return join(names);
}

// NAME or NAME=OPTION=VALUE:OPTION=VALUE, separated by '|'.
Result<std::vector<FeatureRequest>> parse_features(const std::string &text) {
  std::vector<FeatureRequest> requests;
  if (text.empty()) return requests;
  for (const std::string &piece : split_escaped(text, '|')) {
    FeatureRequest request;
    const size_t equals = find_escaped(piece, '=');
    request.extractor = unescape(piece.substr(0, equals));
    const Extractor *extractor = find_extractor(request.extractor);
    if (equals != std::string::npos)
      for (const std::string &option : split_escaped(piece.substr(equals + 1), ':')) {
        const size_t middle = find_escaped(option, '=');
        if (middle == std::string::npos || middle == 0)
          return Status(Code::invalid_argument,
                        "feature \"" + piece + "\": \"" + option +
                            "\" is not OPTION=VALUE (write NAME=OPTION=VALUE:OPTION=VALUE)");
        const std::string key = unescape(option.substr(0, middle));
        std::string value = unescape(option.substr(middle + 1));
        if (extractor) value = normalised_option(extractor->options, key, value);
        if (!request.options.emplace(key, value).second)
          return Status(Code::invalid_argument,
                        "feature \"" + piece + "\": option " + key + " is given twice");
      }
    requests.push_back(std::move(request));
  }
  return requests;
}

// Whether all that the option, a boolean, does is to add outputs.
bool adds_outputs(const Extractor &extractor, std::string_view option) {
  const auto of = [&](const OutputSpec &output) {
    return (output.debug && option == "debug") || option == output.when ||
           (output.chroma && option == "enable_chroma");
  };
  return std::any_of(extractor.outputs.begin(), extractor.outputs.end(), of) ||
         std::any_of(extractor.aggregates.begin(), extractor.aggregates.end(), of);
}

// The planned extractor that has these outputs, added if it is new. Two requests are the same if the
// extractor and the suffix of its output names are; options outside the names come from the first
// request, as in libvmaf, except that outputs appear if any request wants them. A remark says so.
Result<size_t> need(Plan &plan, const Extractor &extractor, const OptionTexts &texts) {
  auto options = Options::parse(extractor.name, extractor.options, texts);
  if (!options.ok()) return options.status();
  if (Status s = extractor.check(*options); !s.ok()) return s;
  PlannedExtractor fresh{&extractor, texts, std::move(*options), {}, {}};
  for (size_t i = 0; i < plan.extractors.size(); ++i) {
    PlannedExtractor &known = plan.extractors[i];
    if (known.extractor != &extractor || known.options.suffix() != fresh.options.suffix()) continue;
    for (const OptionSpec &option : extractor.options) {
      if (!adds_outputs(extractor, option.name)) {
        if (!fresh.options.same(option.name, known.options))
          plan.remarks.push_back(std::string(extractor.name) +
                                 " is asked for twice with different values of " + option.name +
                                 ", which output names do not tell apart: only the first request is met");
      } else if (fresh.options.boolean(option.name)) {
        known.texts[option.name] = "true";
      }
    }
    auto united = Options::parse(extractor.name, extractor.options, known.texts);
    if (!united.ok()) return united.status();
    known.options = std::move(*united);
    return i;
  }
  plan.extractors.push_back(std::move(fresh));
  return plan.extractors.size() - 1;
}

// Every name of a message or a result file means one value.
Status check_names(const Plan &plan) {
  std::vector<std::string> names = plan.feature_names;
  for (const std::string &score : plan.model_scores) {
    if (std::find(names.begin(), names.end(), score) != names.end())
      return Status(Code::invalid_argument, "two scores would have the name \"" + score +
                                                "\"; give the model another with name=LABEL");
    names.push_back(score);
  }
  return Status();
}

// Adds the extractor of that number to the pass that measures others like it, or to one of its own.
void add_to_passes(Plan &plan, size_t number) {
  PlannedExtractor &planned = plan.extractors[number];
  const auto fits = [&](const PlannedPass &pass) {
    return pass.extractor == planned.extractor &&
           pass.extractor->one_pass(plan.extractors[pass.members[0]].options, planned.options);
  };
  auto pass = std::find_if(plan.passes.begin(), plan.passes.end(), fits);
  if (pass == plan.passes.end()) pass = plan.passes.insert(pass, {planned.extractor, {}, {}});
  planned.pass = size_t(pass - plan.passes.begin());
  planned.option_set = int(pass->members.size());
  pass->members.push_back(number);
  pass->reads |= planned.extractor->reads(planned.options);
  pass->temporal |= planned.temporal;
}

}  // namespace

void Plan::settle() {
  for (size_t i = 0; i < extractors.size(); ++i) {
    PlannedExtractor &planned = extractors[i];
    planned.temporal = planned.extractor->temporal(planned.options);
    lookahead = std::max(lookahead, planned.extractor->lookahead(planned.options));
    add_to_passes(*this, i);
  }
  for (const PlannedPass &pass : passes) reads |= pass.reads;
  for (PlannedExtractor &planned : extractors) planned.columns.assign(planned.extractor->outputs.size(), -1);
  for (const bool late : {false, true})
    for (PlannedExtractor &planned : extractors)
      for (size_t i = 0; i < planned.columns.size(); ++i) {
        const OutputSpec &output = planned.extractor->outputs[i];
        if (output.late != late || !planned.extractor->reports(output, planned.options)) continue;
        planned.columns[i] = int(feature_names.size());
        feature_names.push_back(log_name(output, planned.options));
      }
  for (PlannedExtractor &planned : extractors)
    for (const OutputSpec &aggregate : planned.extractor->aggregates) {
      planned.aggregate_columns.push_back(-1);
      if (!planned.extractor->reports(aggregate, planned.options)) continue;
      planned.aggregate_columns.back() = int(aggregate_names.size());
      aggregate_names.push_back(log_name(aggregate, planned.options));
    }
}

std::vector<const Options *> Plan::options_of(const PlannedPass &pass) const {
  std::vector<const Options *> options;
  for (const size_t member : pass.members) options.push_back(&extractors[member].options);
  return options;
}

std::string Plan::name_of(const PlannedPass &pass) const {
  std::string name;
  for (const Options *options : options_of(pass))
    name += (name.empty() ? "" : "+") + (pass.extractor->name + options->suffix());
  return name;
}

Result<Plan> Plan::make(const std::string &models, const std::string &features) {
  auto model_requests = parse_models(models);
  if (!model_requests.ok()) return model_requests.status();
  auto feature_requests = parse_features(features);
  if (!feature_requests.ok()) return feature_requests.status();

  Plan plan;
  std::vector<std::vector<size_t>> providers;  // per model and feature: index into plan.extractors
  for (const ModelRequest &request : *model_requests) {
    auto model = load_model(request);
    if (!model.ok()) return model.status();
    providers.emplace_back();
    for (const ModelFeature &feature : (*model)->features()) {
      const Extractor *extractor = find_provider(feature.output);
      if (!extractor)
        return Status(Code::unsupported, "model " + (*model)->label() + " needs the feature " +
                                             feature.output + ", which none of the extractors provides (" +
                                             extractor_names() + ")");
      auto index = need(plan, *extractor, feature.options);
      if (!index.ok())
        return Status(index.status().code(), "model " + (*model)->label() + ": " + index.status().message());
      std::string &needed_by = plan.extractors[*index].needed_by;
      if (needed_by.empty()) needed_by = (*model)->label();
      providers.back().push_back(*index);
    }
    const std::vector<std::string> &scores = (*model)->scores();
    const size_t first_score = plan.model_scores.size();
    plan.model_scores.insert(plan.model_scores.end(), scores.begin(), scores.end());
    plan.models.push_back({std::move(*model), {}, first_score});
  }
  for (const FeatureRequest &request : *feature_requests) {
    const Extractor *extractor = find_extractor(request.extractor);
    if (!extractor)
      return Status(Code::not_found, "there is no feature extractor \"" + request.extractor +
                                         "\"; there are " + extractor_names());
    if (auto index = need(plan, *extractor, request.options); !index.ok()) return index.status();
  }
  if (plan.extractors.empty())
    return Status(Code::invalid_argument, "neither a model nor a feature is asked for: nothing to compute");

  plan.settle();
  if (Status s = check_names(plan); !s.ok()) return s;
  for (size_t m = 0; m < plan.models.size(); ++m)
    for (size_t f = 0; f < providers[m].size(); ++f) {
      const PlannedExtractor &planned = plan.extractors[providers[m][f]];
      const std::string &output = plan.models[m].model->features()[f].output;
      const auto &outputs = planned.extractor->outputs;
      const auto it =
          std::find_if(outputs.begin(), outputs.end(), [&](const OutputSpec &o) { return output == o.name; });
      const int column = planned.columns[size_t(it - outputs.begin())];
      if (column < 0)
        return Status(Code::unsupported, "model " + plan.models[m].model->label() + " needs " + output +
                                             ", which " + planned.extractor->name +
                                             " does not report with its options");
      plan.models[m].columns.push_back(column);
    }
  return plan;
}

}  // namespace vmafhip
