// What tests of SSIM and MS-SSIM share: the two as parameters.
#pragma once
#include "engine/arith/ssim.h"

namespace vmafhip::test {

inline SsimParams single(int factor, bool lcs = true) {
  SsimParams params;
  params.factor = factor;
  params.lcs = lcs;
  return params;
}

inline SsimParams multi(bool lcs) {
  SsimParams params;
  params.multi_scale = true;
  params.lcs = lcs;
  return params;
}

}  // namespace vmafhip::test
