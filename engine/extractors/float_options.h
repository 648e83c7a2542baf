// Options that float metrics share: kernel scales, and how planes are scaled before they are measured.
#pragma once
#include <cstdio>
#include <string>

#include "engine/arith/float_filter.h"
#include "engine/arith/float_scale.h"
#include "engine/options.h"
#include "engine/status.h"

namespace vmafhip {

inline Status check_kernel_scale(const char *extractor, const Options &options, const char *option) {
  if (is_kernel_scale(options.real(option))) return Status();
  std::string list;
  char text[16];
  for (const double scale : kKernelScales) {
    std::snprintf(text, sizeof text, "%s%.6g", list.empty() ? "" : ", ", scale);
    list += text;
  }
  return Status(Code::invalid_argument,
                std::string(extractor) + ": option " + option + " must be one of " + list);
}

// Nearest if there is no such method.
inline FloatScaling float_scaling_of(const std::string &name) {
  if (name == "bilinear") return FloatScaling::bilinear;
  if (name == "bicubic") return FloatScaling::bicubic;
  if (name == "lanczos4") return FloatScaling::lanczos4;
  return FloatScaling::nearest;
}

inline Status check_float_scaling(const char *extractor, const Options &options, const char *option) {
  const std::string &name = options.string(option);
  if (name == "nearest" || float_scaling_of(name) != FloatScaling::nearest) return Status();
  return Status(Code::invalid_argument, std::string(extractor) + ": option " + option +
                                            " must be nearest, bilinear, bicubic or lanczos4, not \"" + name +
                                            "\"");
}

}  // namespace vmafhip
