// What tests of both kinds of ADM share: several distorted pictures at once, and the options whose arithmetic differs.
#pragma once
#include <memory>
#include <vector>

#include "engine/arith/adm_float.h"
#include "tests/isa_run.h"

namespace vmafhip::test {

// Each of several distorted pictures has the sums that it has alone, and memory for three serves one as well.
// `make`: a metric for so many distorted pictures; `describe`: how two sums differ, empty if they do not.
template <class Sums, class Make, class Describe>
void expect_sums_as_alone(const CpuKernels &kernels, Make make, Describe describe) {
  const Luma ref = waves(210, 130, 8, 0);
  const std::vector<Luma> dist = {distorted_from(ref, 1), noise(210, 130, 8, 2), ref};
  const auto measure = [](const std::unique_ptr<Metric> &metric, const StoredFrame &frame) {
    return measure_sums<Sums>(*metric, frame.view);
  };
  const std::unique_ptr<Metric> three = make(ref, 3);
  const auto got = measure(three, StoredFrame({ref}, dist));
  ASSERT_EQ(got.size(), dist.size());
  for (size_t d = 0; d < dist.size(); ++d)
    EXPECT_EQ(describe(got[d], measure(make(ref, 1), StoredFrame({ref}, {dist[d]}))[0]), "")
        << kernels.isa << ", picture " << d;
  EXPECT_EQ(describe(measure(three, StoredFrame({ref}, {dist[1]}))[0], got[1]), "") << kernels.isa;
}

inline std::vector<AdmFloatOptions> adm_float_variants() {
  std::vector<AdmFloatOptions> out(9);
  out[1].gain_limit = 1;
  out[2].gain_limit = 1.2;
  out[3].p_norm = 2.5;
  out[4].p_norm = 20;
  out[4].gain_limit = 1.7;
  out[5].bypass_masking = true;
  out[6].csf_mode = 1;
  out[7].skip_scale0 = true;
  out[8].csf_mode = 2;
  out[8].factor[1][1] = 10;
  return out;
}

}  // namespace vmafhip::test
