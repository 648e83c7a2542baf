// Extractor `cambi`: options, outputs, scores, and what the visibility of small contrasts makes of a display's transfer
// function. The arithmetic is in engine/arith/cambi.h.
#include <cmath>
#include <cstring>

#include "engine/extractors/extractors.h"

namespace vmafhip {
namespace {

constexpr OptionSpec kOptions[] = {
    {"cambi_max_val", OptionType::real, "1000", 0, 1000, "cmxv", true, "Largest value of any output."},
    {"enc_width", OptionType::integer, "0", 180, 7680, "encw", true,
     "Width at which the distorted picture was encoded; 0: its own."},
    {"enc_height", OptionType::integer, "0", 150, 7680, "ench", true,
     "Height at which the distorted picture was encoded; 0: its own."},
    {"enc_bitdepth", OptionType::integer, "0", 6, 16, "encbd", true,
     "Bits a sample at which the distorted picture was encoded, below 10 an anti-dither filter runs; 0: its "
     "own."},
    {"src_width", OptionType::integer, "0", 320, 7680, "srcw", true,
     "Width of the reference's source, for full_ref; 0: the picture's own."},
    {"src_height", OptionType::integer, "0", 200, 4320, "srch", true,
     "Height of the reference's source, for full_ref; 0: the picture's own."},
    {"window_size", OptionType::integer, "65", 15, 127, "ws", true,
     "Side of the window in which banding is looked for, in pixels of 3840x2160."},
    {"topk", OptionType::real, "0.6", 0.0001, 1, "", true,
     "Share of pixels, those with the strongest banding, that the score averages."},
    {"cambi_topk", OptionType::real, "0.6", 0.0001, 1, "ctpk", true,
     "The same as topk; taken unless that differs from 0.6."},
    {"tvi_threshold", OptionType::real, "0.019", 0.0001, 1, "tvit", true,
     "Contrast of two luminances, relative to the lower one, from which on it is seen."},
    {"cambi_vis_lum_threshold", OptionType::real, "0", 0, 300, "vlt", true,
     "Luminance in cd/m2 below which banding is not seen."},
    {"max_log_contrast", OptionType::integer, "2", 0, 5, "mlc", true,
     "Contrasts of up to 2 to this power codes of 10 bits are looked for."},
    {"heatmaps_path", OptionType::string, "", 0, 0, "", false,
     "Folder for heat maps of the distorted picture: a file per scale, 16-bit grey, frame by frame."},
    {"full_ref", OptionType::boolean, "false", 0, 0, "", false,
     "Also measure the reference, and how much more banding the distorted picture has."},
    {"eotf", OptionType::string, "bt1886", 0, 0, "", true,
     "Transfer function of the display: bt1886 or pq; if not given, as the pictures say."},
    {"cambi_eotf", OptionType::string, "bt1886", 0, 0, "ceot", true,
     "The same as eotf; taken instead of it unless bt1886."},
    {"cambi_high_res_speedup", OptionType::integer, "0", 0, 2160, "hrs", true,
     "1080, 1440 or 2160: pictures of at least so many lines (16:9) are halved first."},
};

constexpr OutputSpec kOutputs[] = {
    {"Cambi_feature_cambi_score", "cambi", false, false},
    {"cambi_source", "", false, false, "full_ref"},
    {"cambi_full_reference", "", false, false, "full_ref"},
};

// ---- Visibility

enum class Eotf { bt1886, pq };

// What the options say, else what the pictures say of themselves.
Eotf eotf_of(const Options &options, const PictureFormat &format) {
  const std::string &own = options.string("cambi_eotf");
  const std::string &name = own != "bt1886" ? own : options.string("eotf");
  if (name == "pq") return Eotf::pq;
  const bool asked = options.given("cambi_eotf") || options.given("eotf");
  return !asked && format.transfer == Transfer::pq ? Eotf::pq : Eotf::bt1886;
}

// cd/m2 of a code of 10 bits, limited range.
double luminance(int code, Eotf eotf) {
  const double v = (smaller(larger(code, 64), 940) - 64) / 876.0;
  if (eotf == Eotf::pq) {
    const double p = std::pow(v, 1 / 78.84375);
    return 10000 * std::pow(larger(p - 0.8359375, 0.0) / (18.8515625 - 18.6875 * p), 1 / 0.1593017578125);
  }
  constexpr double kGamma = 2.4, kWhite = 300, kBlack = 0.01;
  const double white = std::pow(kWhite, 1 / kGamma), black = std::pow(kBlack, 1 / kGamma);
  const double a = std::pow(white - black, kGamma), b = black / (white - black);
  return a * std::pow(larger(v + b, 0.0), kGamma);
}

// The largest code at which a step of `step` codes is seen.
int visible_up_to(int step, double threshold, Eotf eotf) {
  const auto seen = [&](int code) {
    const double l = luminance(code, eotf);
    return luminance(code + step, eotf) - l > threshold * l;
  };
  int low = 64, high = 940 - step - 1;
  if (!seen(low)) return 0;
  if (!seen(low + 1)) return low;
  if (seen(high)) return seen(high + 1) ? 1023 : high;
  for (;;) {
    const int middle = low + (high - low) / 2;
    if (!seen(middle))
      high = middle;
    else if (seen(middle + 1))
      low = middle;
    else
      return middle;
  }
}

// The darkest code of at least this luminance; 0 if all are.
int darkest_code(double threshold, Eotf eotf) {
  int code = 64;
  while (code < 940 && luminance(code, eotf) < threshold) ++code;
  return code == 64 ? 0 : code;
}

// ---- Sizes

std::string size_text(int width, int height) { return std::to_string(width) + "x" + std::to_string(height); }

bool half_at_first(const Options &options, int64_t samples) {
  switch (options.integer("cambi_high_res_speedup")) {
    case 1080:
      return samples >= 1920 * 1080;
    case 1440:
      return samples >= 2560 * 1440;
    case 2160:
      return samples >= 3840 * 2160;
    default:
      return false;
  }
}

// A target as options say; the picture's size if they do not.
CambiTarget target(const Options &options, const char *width, const char *height,
                   const PictureFormat &format) {
  CambiTarget t{options.integer(width), options.integer(height), 0};
  if (t.width == 0 || t.height == 0) t = {format.width, format.height, 0};
  return t;
}

Status check_target(const CambiTarget &t, const char *what) {
  if (t.width < kCambiMinSize && t.height < kCambiMinSize)
    return Status(Code::unsupported, std::string("cambi needs at least ") + std::to_string(kCambiMinSize) +
                                         " samples in width or in height, " + what + " is " +
                                         size_text(t.width, t.height));
  if (t.window > kCambiMaxWindow)
    return Status(Code::unsupported, "cambi's window is " + std::to_string(t.window) + " samples wide when " +
                                         what + " is " + size_text(t.width, t.height) + ", and " +
                                         std::to_string(kCambiMaxWindow) + " at most: lower window_size");
  return Status();
}

Status check_options(const Options &options) {
  for (const char *name : {"cambi_eotf", "eotf"})
    if (const std::string &eotf = options.string(name); eotf != "bt1886" && eotf != "pq")
      return Status(Code::invalid_argument,
                    std::string("cambi: option ") + name + " must be bt1886 or pq, not \"" + eotf + "\"");
  return Status();
}

Status check_format(const Options &options, const PictureFormat &format) {
  const CambiParams p = cambi_params(options, format);
  if (Status s = check_target(p.enc, "the distorted picture"); !s.ok()) return s;
  if (!p.full_ref) return Status();
  if (Status s = check_target(p.src, "the reference"); !s.ok()) return s;
  if ((p.src.width > p.enc.width && p.src.height < p.enc.height) ||
      (p.src.width < p.enc.width && p.src.height > p.enc.height))
    return Status(Code::unsupported, "cambi: the source, " + size_text(p.src.width, p.src.height) +
                                         ", must not be wider and lower than the encoding, " +
                                         size_text(p.enc.width, p.enc.height) + ", nor narrower and higher");
  return Status();
}

// ---- Scores

class CambiScorer final : public Scorer {
 public:
  explicit CambiScorer(const CambiParams &params) : params_(params) {}

  void add(uint64_t frame, const std::byte *sums, const Emit &emit) override {
    CambiSums means;
    std::memcpy(&means, sums, sizeof means);
    const double enc = cambi_score(means.enc, params_.enc.window);
    emit(0, frame, smaller(enc, params_.max_val));
    if (!params_.full_ref) return;
    const double src = cambi_score(means.src, params_.src.window);
    emit(1, frame, smaller(src, params_.max_val));
    emit(2, frame, smaller(larger(0.0, enc - src), params_.max_val));
  }
  void flush(const Emit &) override {}
  void reset() override {}

 private:
  const CambiParams params_;
};

}  // namespace

CambiParams cambi_params(const Options &options, const PictureFormat &format) {
  CambiParams p;
  p.width = format.width;
  p.height = format.height;
  p.depth = format.depth;
  p.full_ref = options.boolean("full_ref");
  p.max_val = options.real("cambi_max_val");
  const double topk = options.real("topk");
  p.topk = topk != 0.6 ? topk : options.real("cambi_topk");

  p.enc = target(options, "enc_width", "enc_height", format);
  if (p.enc.width > format.width || p.enc.height > format.height) p.enc = {format.width, format.height, 0};
  p.src = target(options, "src_width", "src_height", format);
  const int own_depth = format.coded_depth ? format.coded_depth : format.depth;
  const int enc_depth = options.integer("enc_bitdepth") ? options.integer("enc_bitdepth") : own_depth;
  p.anti_dither = enc_depth < 10;
  p.half = half_at_first(options, static_cast<int64_t>(p.enc.width) * p.enc.height);
  for (CambiTarget *t : {&p.enc, &p.src})
    t->window = cambi_window(options.integer("window_size"), t->width, t->height, p.half);

  const Eotf eotf = eotf_of(options, format);
  p.contrasts = 1 << options.integer("max_log_contrast");
  for (int d = 0; d < p.contrasts; ++d)
    p.visible_up_to[d] = visible_up_to(d + 1, options.real("tvi_threshold"), eotf);
  p.darkest = darkest_code(options.real("cambi_vis_lum_threshold"), eotf);
  return p;
}

const Extractor kCambiExtractor = {
    .name = "cambi",
    .summary =
        "Banding: contours where a smooth gradient should be, of the distorted picture alone without "
        "full_ref.",
    .exactness = "bits",
    .options = kOptions,
    .outputs = kOutputs,
    .reads = [](const Options &options) -> Reads {
      return {.ref = options.boolean("full_ref") ? kLuma : PlaneSet{0}, .dist = kLuma};
    },
    .lookahead = [](const Options &) { return 0; },
    .check_options = check_options,
    .check_format = check_format,
    .sums_bytes = sizeof(CambiSums),
    .add_sums = add_double_sums<CambiSums>,
    .make_scorer = [](const Options &options, const PictureFormat &format) -> std::unique_ptr<Scorer> {
      return std::make_unique<CambiScorer>(cambi_params(options, format));
    },
};

}  // namespace vmafhip
