// Records as a Rendition would fill them, by hand: for tests of what reads them.
#pragma once
#include <memory>
#include <vector>

#include "examples/monitor/record.h"
#include "examples/monitor/settings.h"

// A picture with stripes in three colours, as a PNG file.
monitor::Image sample_png(int width, int height, int kind);

// Channel "news" with renditions "720p" (all is well, threshold 80, clear 85) and "360p" (no score yet).
struct SampleRecords {
  static constexpr monitor::Time kEnd = 1'700'000'000'000'000;

  explicit SampleRecords(monitor::Time end = kEnd);
  monitor::Record &operator[](size_t n) { return *records[n]; }
  std::vector<monitor::Record *> pointers() const;
  std::vector<const monitor::Record *> const_pointers() const;

  monitor::Settings settings;
  std::vector<std::unique_ptr<monitor::Record>> records;
};
