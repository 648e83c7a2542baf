// What tests of result files share.
#pragma once
#include "engine/results_layout.h"

namespace vmafhip::test {

inline ResultsHeader two_metrics() {
  ResultsHeader header;
  header.version = "3.2.0";
  header.metrics = {"integer_adm2", "vmaf"};
  header.model_sources = {{"vmaf", "fitted"}};
  header.width = 96;
  header.height = 72;
  return header;
}

}  // namespace vmafhip::test
