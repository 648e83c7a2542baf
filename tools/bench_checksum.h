// A number for the bits of scores: equal for all that must be equal.
#pragma once
#include <bit>
#include <cstdint>
#include <cstdio>
#include <string>

#include "engine/session.h"

namespace vmafhip::bench {

// FNV-1a.
class Checksum {
 public:
  void add(const FrameScores &scores) {
    for (const PictureScores &s : scores.dist) {
      for (const double value : s.features) add(std::bit_cast<uint64_t>(value));
      for (const double value : s.models) add(std::bit_cast<uint64_t>(value));
    }
  }
  void add(uint64_t word) {
    for (int i = 0; i < 8; ++i, word >>= 8) sum_ = (sum_ ^ (word & 255)) * 0x100000001b3;
  }
  uint64_t value() const { return sum_; }
  std::string text() const {
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(sum_));
    return text;
  }

 private:
  uint64_t sum_ = 0xcbf29ce484222325;
};

}  // namespace vmafhip::bench
