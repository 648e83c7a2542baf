// What is compared between the back ends: whole sessions over clips, those of the golden figures and random ones.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/registry.h"
#include "engine/session.h"

namespace vmafhip::parity {

// What the CPU measures beside the GPU: there are no kernels for heat maps. To be had of pictures that cambi takes.
inline constexpr char kOfTheCpu[] = "cambi=cambi_max_val=999:heatmaps_path=FOLDER";

struct Case {
  std::string name;
  std::string text;  // what it is, for whoever has to find out what is wrong with it
  SessionOptions
      options;  // all but the back end, and the folder of kOfTheCpu; without features there is nothing to measure
  std::vector<Picture> ref;
  std::vector<std::vector<Picture>> dist;  // a frame: one per distorted picture
  // For the GPU, pictures are copied there, with rows that begin at multiples of so many bytes.
  MemoryKind memory = MemoryKind::host;
  size_t alignment = 256;
  // Of pictures in host memory, the GPU reads every so many-th where it is, at addresses of its own that are so many bytes
  // from a multiple of 256; 0: none.
  int mirrored = 0;
  size_t offset = 0;
  // libvmaf's figures, by name of the score, one value a frame; for scores that equal them in every bit.
  std::map<std::string, std::vector<double>> expected;

  PictureFormat ref_format() const;
  std::vector<PictureFormat> dist_formats() const;
};

// Which extractors are measured.
using Extractors = std::vector<const Extractor *>;
// For one session: what it writes goes to `folder`.
SessionOptions with_folder(SessionOptions options, const std::string &folder);

inline Extractors all_extractors() { return {extractors().begin(), extractors().end()}; }

std::vector<std::string> golden_names();
// Extractors that take such pictures, there may be none, with their default options and all golden variants, in one
// session; without `only`, all that have kernels, and a model and kOfTheCpu beside them. `frames`: the first ones only,
// without figures then; 0: all.
Case golden_case(const std::string &name, int frames, const Extractors &only = {});

// Follows from `seed`, `number` and `only` alone. `most_samples`: of a picture.
Case random_case(uint32_t seed, int number, int frames, int64_t most_samples, const Extractors &only = {});

}  // namespace vmafhip::parity
