#include "engine/model/model_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cfloat>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>

#include "engine/model/json.h"
#include "engine/model/limits.h"
#include "engine/model/refused.h"
#include "engine/text.h"

namespace vmafhip {
namespace {

// Option values as texts: numbers pass through f32 as in libvmaf, strings stay.
OptionTexts read_options(const JsonAt &dict) {
  OptionTexts options;
  for (const auto &[name, value] : dict.members()) {
    if (value.is_string()) {
      options[name] = value.string();
    } else if (value.is_boolean()) {
      options[name] = value.boolean() ? "true" : "false";
    } else if (value.is_number()) {
      const double number = value.number();
      if (std::abs(number) > static_cast<double>(FLT_MAX)) value.fail("is too large");
      options[name] = normalised_option(to_text(number));
    } else {
      value.fail("must be a number, true, false or a string");
    }
  }
  return options;
}

void read_features(const JsonAt &dict, ModelFile &model) {
  const auto names = dict.need("feature_names").items();
  if (names.empty() || names.size() > static_cast<size_t>(kMaxFeatures))
    dict.need("feature_names")
        .fail("has " + std::to_string(names.size()) + " names, must have 1 to " +
              std::to_string(kMaxFeatures));
  for (const JsonAt &name : names) {
    if (name.string().empty()) name.fail("is empty");
    model.features.push_back({name.string(), {}});
  }

  const auto options = dict.find("feature_opts_dicts");
  if (!options) return;
  const auto dicts = options->items();
  if (dicts.size() != names.size())
    options->fail("has " + std::to_string(dicts.size()) + " entries for " + std::to_string(names.size()) +
                  " features");
  for (size_t i = 0; i < dicts.size(); ++i) model.features[i].options = read_options(dicts[i]);
}

void read_lines(const JsonAt &dict, ModelFile &model) {
  const size_t features = model.features.size();
  model.inputs.resize(features);
  const JsonAt norm = dict.need("norm_type");
  if (norm.string() == "none") {
    model.normalised = false;
    return;
  }
  if (norm.string() != "linear_rescale")
    norm.fail(in_quotes(norm.string()) + " is not one of linear_rescale, none");

  for (const char *key : {"slopes", "intercepts"}) {
    const JsonAt list = dict.need(key);
    const auto numbers = list.items();
    if (numbers.size() != features + 1)
      list.fail("has " + std::to_string(numbers.size()) + " numbers, must have " +
                std::to_string(features + 1) + " (the score and " + std::to_string(features) + " features)");
    for (size_t i = 0; i < numbers.size(); ++i) {
      Line &line = i == 0 ? model.score : model.inputs[i - 1];
      (*key == 's' ? line.slope : line.intercept) = numbers[i].number();
    }
  }
  if (std::abs(model.score.slope) < 1 / kLargestNumber)
    dict.need("slopes").fail("[0] is 0: the score would be infinite");
}

void read_chroma_correction(const JsonAt &dict, ModelFile &model) {
  const auto key = dict.find("chroma_correction_parameter");
  if (!key || key->number() == 0) return;
  const auto find = [&](const char *part) {
    size_t found = model.features.size();
    for (size_t i = 0; i < model.features.size(); ++i) {
      if (model.features[i].output.find(part) == std::string::npos) continue;
      if (found != model.features.size())
        key->fail(std::string("needs one feature ") + part + ", there are several");
      found = i;
    }
    if (found == model.features.size()) key->fail(std::string("needs a feature ") + part + ", there is none");
    if (std::abs(model.inputs[found].slope) < 1 / kLargestNumber)
      key->fail("needs slopes other than 0 of adm3 and speed_chroma");
    return found;
  };
  const size_t guiding = find("adm3"), guided = find("speed_chroma");
  model.chroma = ChromaCorrection{key->number(), guiding, guided};
}

bool read_bound(const std::optional<JsonAt> &value) {
  if (!value) return false;
  if (value->is_boolean()) return value->boolean();
  if (value->string() != "true" && value->string() != "false")
    value->fail(in_quotes(value->string()) + " must be \"true\" or \"false\"");
  return value->string() == "true";
}

void read_transform(const JsonAt &dict, ModelFile &model) {
  const auto value = dict.find("score_transform");
  if (!value) return;
  Transform transform;
  for (const auto &[key, target] :
       {std::pair{"p0", &transform.p0}, std::pair{"p1", &transform.p1}, std::pair{"p2", &transform.p2}})
    if (const auto p = value->find(key)) *target = p->number();
  if (const auto knots = value->find("knots")) {
    std::vector<std::array<double, 2>> points;
    for (const JsonAt &knot : knots->items()) {
      const auto pair = knot.items();
      if (pair.size() != 2) knot.fail("must be [x, y]");
      points.push_back({pair[0].number(), pair[1].number()});
    }
    try {
      transform.set_knots(points);
    } catch (const Refused &refused) {
      knots->fail(refused.message);
    }
  }
  transform.out_lte_in = read_bound(value->find("out_lte_in"));
  transform.out_gte_in = read_bound(value->find("out_gte_in"));
  if (const auto enabled = value->find("enabled")) model.transform_enabled = enabled->boolean();
  model.finish.transform = transform;
}

void read_clip(const JsonAt &dict, ModelFile &model) {
  const auto value = dict.find("score_clip");
  if (!value) return;
  const auto ends = value->items();
  if (ends.size() != 2 || !(ends[0].number() <= ends[1].number())) value->fail("must be [min, max]");
  model.finish.clip = {ends[0].number(), ends[1].number()};
}

struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) close(fd);
  }
};

std::string read_text(const std::string &path) {
  const auto fail = [](const std::string &what) { throw Refused{Code::io, what}; };
  // Not blocking, so that a FIFO is refused rather than waited for.
  const Descriptor file{open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
  struct stat info {};
  if (file.fd < 0 || fstat(file.fd, &info) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) throw Refused{Code::not_found, "there is no such file"};
    fail(std::string("cannot be opened: ") + std::strerror(errno));
  }
  if (!S_ISREG(info.st_mode)) fail("is not a regular file");

  std::string text;
  std::array<char, 65536> block;
  for (;;) {
    const ssize_t count = read(file.fd, block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(std::string("cannot be read: ") + std::strerror(errno));
    if (count == 0) return text;
    text.append(block.data(), static_cast<size_t>(count));
    if (text.size() > kMaxFileBytes) fail("is larger than 64 MiB: not a model");
  }
}

// `dict` is a model_dict.
ModelFile read_model(const JsonAt &dict) {
  ModelFile model;
  const JsonAt type = dict.need("model_type");
  if (type.string() != "LIBSVMNUSVR" && type.string() != "BOOTSTRAP_LIBSVMNUSVR" &&
      type.string() != "RESIDUEBOOTSTRAP_LIBSVMNUSVR")
    type.fail(in_quotes(type.string()) +
              " is not one of LIBSVMNUSVR, BOOTSTRAP_LIBSVMNUSVR, RESIDUEBOOTSTRAP_LIBSVMNUSVR");
  read_features(dict, model);
  read_lines(dict, model);
  read_chroma_correction(dict, model);
  read_transform(dict, model);
  read_clip(dict, model);
  const JsonAt svm = dict.need("model");
  try {
    model.svm = Svm::parse(svm.string(), static_cast<int>(model.features.size()));
  } catch (const Refused &refused) {
    svm.fail(refused.message);
  }
  return model;
}

// Models under the keys "0", "1", …: the base, then the members.
ModelSet read_collection(const JsonAt &top) {
  ModelSet set;
  std::string base_type;
  size_t count = 0;
  for (;; ++count) {
    const auto model = top.find(std::to_string(count).c_str());
    if (!model) break;
    if (count > kMaxMembers) refuse("has more than " + std::to_string(kMaxMembers) + " models");
    const JsonAt dict = model->need("model_dict");
    const JsonAt type = dict.need("model_type");
    if (count > 1 && type.string() != base_type)
      type.fail(in_quotes(type.string()) + " differs from " + in_quotes(base_type) + " of the models before");
    base_type = type.string();
    if (count == 0)
      set.base = read_model(dict);
    else
      set.members.push_back(read_model(dict));
  }
  for (const auto &[key, value] : top.members())
    if (key.find_first_not_of("0123456789") == key.npos && std::strtoull(key.c_str(), nullptr, 10) >= count)
      refuse("is a collection with a model " + in_quotes(key) + " but none " +
             in_quotes(std::to_string(count)));
  if (set.members.empty()) refuse("is a collection without a member: there is no model '1'");
  return set;
}

}  // namespace

ModelSet parse_model_file(std::string_view text) {
  const Json json = parse_json(text);
  const JsonAt top(json, "");
  if (!top.is_object()) refuse("is not a JSON object");
  if (const auto dict = top.find("model_dict")) return {read_model(*dict), {}};
  if (top.find("0")) return read_collection(top);
  refuse("has no key model_dict");
}

ModelSet read_model_file(const std::string &path) {
  try {
    return parse_model_file(read_text(path));
  } catch (const Refused &refused) {
    throw Refused{refused.code, "model file '" + path + "': " + refused.message};
  }
}

double predict_raw(const ModelFile &model, std::span<const double> features) {
  std::array<double, kMaxFeatures> buffer;
  const std::span<double> n(buffer.data(), model.features.size());
  for (size_t i = 0; i < n.size(); ++i) {
    const Line &line = model.inputs[i];
    n[i] = model.normalised ? line.slope * features[i] + line.intercept : features[i];
  }
  if (model.chroma) {
    // Both values go back through their lines as in libvmaf: the round trip decides the last bits.
    const auto [c, guiding, guided] = *model.chroma;
    const Line &g = model.inputs[guiding], &d = model.inputs[guided];
    if ((n[guided] - d.intercept) / d.slope == 0.0) {
      const double adm3 = (n[guiding] - g.intercept) / g.slope;
      n[guided] = d.slope * ((-c * adm3) + c) + d.intercept;
    }
  }
  const double sum = model.svm(n);
  return model.normalised ? (sum - model.score.intercept) / model.score.slope : sum;
}

}  // namespace vmafhip
