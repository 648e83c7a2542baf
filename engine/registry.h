// All extractors, and the only place that knows which back end implements them.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/accelerator.h"
#include "engine/gpu.h"
#include "engine/metric.h"
#include "engine/options.h"
#include "engine/picture.h"
#include "engine/scaler.h"
#include "engine/status.h"

namespace vmafhip {

struct OutputSpec {
  const char *name;       // libvmaf's internal name, e.g. VMAF_integer_feature_adm2_score
  const char *alias;      // the name in logs, e.g. integer_adm2; "" = the same
  bool late;              // known only after a later frame or at the end: listed after the others in logs
  bool debug;             // exists only with debug=true
  const char *when = "";  // exists only if this option, a boolean, is true; "" = always
  // Of a chroma plane: exists only if the pictures have chroma and the option enable_chroma, where there is one, is true.
  bool chroma = false;

  bool exists_in(const PictureFormat &format) const { return !chroma || format.chroma != Chroma::c400; }
};

// Which pictures an extractor is defined for. Sizes are of luma.
struct FormatLimits {
  int min_width = 1, min_height = 1;
  bool chroma = false;         // 4:0:0 is refused
  bool common_depths = false;  // 8, 10, 12 and 16 bits only
  int max_depth = 16;          // at least 8 always
};

// Sets of options of one extractor that one metric measures: they differ in options of OptionSpec::one_pass alone.
using OptionSets = std::span<const Options *const>;

// One extractor, whatever computes it. One constant of this type per extractor stands in
// engine/extractors.
struct Extractor {
  const char *name;
  const char *summary;    // what it measures, one sentence
  const char *exactness;  // "bits", or the largest difference from libvmaf and what it is owed to
  FormatLimits limits;
  std::span<const OptionSpec> options;
  std::span<const OutputSpec> outputs;
  // What measure() reads; chroma as far as the format has it.
  Reads (*reads)(const Options &);
  // Frames that must follow before a frame's scores are complete.
  int (*lookahead)(const Options &);
  // Options that contradict each other; null if none can.
  Status (*check_options)(const Options &);
  // What depends on options; the limits are checked before. Null if nothing does.
  Status (*check_format)(const Options &, const PictureFormat &);
  // What the metric hands to the scorer for each distorted picture and set of options, and how a strip's share is added
  // to it. Strips are added in the order of stages and strips; the total starts as zeros.
  size_t sums_bytes;
  void (*add_sums)(std::byte *total, const std::byte *partial);
  std::unique_ptr<Scorer> (*make_scorer)(const Options &, const PictureFormat &);
  // What users should know of scores of such pictures, which are not refused; "" for nothing. Null if never anything.
  std::string (*remark)(const Options &, const PictureFormat &) = nullptr;
  // Values of the whole stream.
  std::span<const OutputSpec> aggregates = {};

  Status check(const Options &options) const { return check_options ? check_options(options) : Status(); }
  // Limits and check_format().
  Status check(const Options &options, const PictureFormat &format) const;
  // Whether one of `outputs` or `aggregates` exists with these options.
  bool reports(const OutputSpec &output, const Options &options) const;
  // Needs every frame, also those between the ones that are scored.
  bool temporal(const Options &options) const;
  // Whether both sets of options can be measured by one metric.
  bool one_pass(const Options &a, const Options &b) const;
};

std::span<const Extractor *const> extractors();
// Null if there is none of that name.
const Extractor *find_extractor(std::string_view name);
// The extractor that provides an internal output name, as models ask for it; null if none does.
const Extractor *find_provider(std::string_view output);

// Name under which an output is reported, e.g. "integer_adm2" or "integer_adm2_egl_1".
std::string log_name(const OutputSpec &output, const Options &options);

// The CPU implementations, for one instruction set.
struct CpuKernels;
class CpuBackend {
 public:
  // The widest instruction set this processor has, or what the environment variable VMAFHIP_ISA asks for; the
  // error lists the names. Once a session: what it says must not change under way.
  static Result<CpuBackend> choose();

  const char *isa() const;
  // `distorted`: the most distorted pictures that a frame will have; memory sizes depend on it.
  std::unique_ptr<Metric> make(const Extractor &extractor, OptionSets options, const PictureFormat &format,
                               int distorted = 1) const;
  std::unique_ptr<Metric> make(const Extractor &extractor, const Options &options,
                               const PictureFormat &format, int distorted = 1) const {
    const Options *const one = &options;
    return make(extractor, OptionSets(&one, 1), format, distorted);
  }
  std::unique_ptr<PlaneScaler> make_scaler(const PlaneScaling &scaling) const;

 private:
  explicit CpuBackend(const CpuKernels &kernels) : kernels_(&kernels) {}
  const CpuKernels *kernels_;
};

// The implementations on a GPU.
namespace hip {
class Device;
class HipMetric;
}  // namespace hip
class Importer;
class HipBackend {
 public:
  // `number` as the GPU's runtime counts; -1: the one that the fewest sessions use. The error says why there is none.
  static Result<HipBackend> open(int number);

  std::string description() const;
  // For others, who may keep it.
  std::shared_ptr<const Gpu> share() const;

  // What measures an extractor on the GPU.
  using DeviceMetric = std::shared_ptr<const hip::HipMetric>;
  // Null if there are no kernels for the options: then the CPU has to.
  Result<DeviceMetric> make(const Extractor &extractor, OptionSets options, const PictureFormat &format,
                            int distorted = 1) const;
  Result<DeviceMetric> make(const Extractor &extractor, const Options &options, const PictureFormat &format,
                            int distorted = 1) const {
    const Options *const one = &options;
    return make(extractor, OptionSets(&one, 1), format, distorted);
  }

  struct Item {
    DeviceMetric metric;
    uint64_t sums_bytes = 0;  // of one distorted picture, all sets of options
    uint64_t sums_at = 0;     // among those of a frame: the first distorted picture's, the others follow
    bool every_frame = true;  // false: only multiples of `subsample`
  };
  struct Work {
    std::vector<Item> items;
    PictureFormat format;
    int distorted = 1;
    uint64_t subsample = 1;
    int lookback = 2;            // frames before each that items read
    PlaneSet ref = 0, dist = 0;  // planes that come in pinned memory and go to the device, of any frame
    uint64_t upload_bytes = 0;   // of a place
    int threads = 1;             // workers that fill places
    int batch = 0;               // the most frames that are measured together, 0: by their size
  };
  // Code::resource: there is not enough memory on the device; the text says how much it takes.
  Result<std::unique_ptr<Accelerator>> make_accelerator(Work work) const;
  // What makes memory of others readable for the GPU, always the same one.
  const std::shared_ptr<const Importer> &importer() const { return importer_; }

 private:
  explicit HipBackend(std::shared_ptr<hip::Device> device) : device_(std::move(device)) {}
  std::shared_ptr<hip::Device> device_;
  std::shared_ptr<const Importer> importer_;
};

}  // namespace vmafhip
