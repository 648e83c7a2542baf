// The layouts of libvmaf's result files, as text. Files and threads are in engine/results.h and engine/outlet.h.
//
// What is ours: the version names this program, JSON and XML end with `model_sources` and `counters`, values that are
// not finite are null in JSON, empty in CSV and left out of XML and SUB, and JSON and XML are always well-formed.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/pool.h"

namespace vmafhip {

enum class ResultsFormat { json, xml, csv, sub };

// What is known before the first frame.
struct ResultsHeader {
  std::string version;                                             // of the program that writes
  std::vector<std::string> metrics;                                // columns, in order
  std::vector<std::pair<std::string, std::string>> model_sources;  // label, e.g. "fitted"
  int width = 0, height = 0;                                       // of the pictures; 0 = unknown
};

using NamedCounters = std::vector<std::pair<std::string, uint64_t>>;
using NamedValues = std::vector<std::pair<std::string, double>>;

// A value as libvmaf prints it: six decimals, or sixteen if the first six of a fraction are zeros; whatever the locale.
// Nothing if it is not finite.
void append_value(std::string &out, double value);

class ResultsLayout {
 public:
  virtual ~ResultsLayout() = default;

  // What stands before the frames. With `room`, the frame rate's place can be overwritten later.
  virtual void begin(std::string &out, const ResultsHeader &header, bool room) = 0;
  // `values` go with the metrics.
  virtual void frame(std::string &out, uint64_t number, std::span<const double> values) = 0;
  // What stands behind them; `pools` go with the metrics. Aggregates that are NaN are left out.
  virtual void end(std::string &out, std::span<const BasicPool> pools, const NamedValues &aggregates,
                   const NamedCounters &counters) = 0;

  // Position of the frame rate in begin()'s text, and what to overwrite it with; "" if the layout has none.
  size_t rate_at() const { return rate_at_; }
  virtual std::string rate(double /*frames_per_second*/) const { return ""; }

 protected:
  size_t rate_at_ = 0;
};

std::unique_ptr<ResultsLayout> make_layout(ResultsFormat format);

}  // namespace vmafhip
