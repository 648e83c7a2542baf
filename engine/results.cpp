#include "engine/results.h"

#include <cctype>
#include <limits>
#include <numeric>
#include <utility>

#include "engine/text.h"

namespace vmafhip {
namespace {

constexpr std::pair<const char *, ResultsFormat> kExtensions[] = {{".json", ResultsFormat::json},
                                                                  {".xml", ResultsFormat::xml},
                                                                  {".csv", ResultsFormat::csv},
                                                                  {".sub", ResultsFormat::sub}};

}  // namespace

Result<ResultsFormat> results_format_of(const std::string &path) {
  std::string lower;
  for (const char c : path) lower += (c >= 'A' && c <= 'Z') ? char(c - 'A' + 'a') : c;
  std::vector<std::string> known;
  for (const auto &[extension, format] : kExtensions) {
    if (lower.ends_with(extension)) return format;
    known.push_back(extension);
  }
  return Status(Code::invalid_argument, "the name of the result file \"" + path +
                                            "\" does not tell its format: let it end with one of " +
                                            join(known) + ", or set results-format");
}

Result<std::unique_ptr<ResultsFile>> ResultsFile::create(Options options) {
  auto outlet = Outlet::open(options.path, std::move(options.on_change), options.outlet);
  if (!outlet.ok()) return outlet.status();
  std::unique_ptr<ResultsFile> file(new ResultsFile(std::move(options)));
  file->outlet_ = std::move(*outlet);
  return file;
}

ResultsFile::ResultsFile(Options options)
    : header_(std::move(options.header)),
      layout_(make_layout(options.format)),
      columns_(header_.metrics.size()),
      pools_(header_.metrics.size()) {
  std::iota(columns_.begin(), columns_.end(), size_t(0));
  values_.reserve(pools_.size());
}

ResultsFile::~ResultsFile() {
  finish({}, std::chrono::milliseconds(0), [] { return false; });
}

void ResultsFile::pictures(int width, int height, const std::function<bool(size_t)> &present) {
  if (begun_ || std::exchange(sized_, true)) return;
  header_.width = width;
  header_.height = height;
  std::erase_if(columns_, [&](size_t column) { return !present(column); });
  std::vector<std::string> metrics;
  for (const size_t column : columns_) metrics.push_back(header_.metrics[column]);
  header_.metrics = std::move(metrics);
  pools_.resize(columns_.size());
}

void ResultsFile::write() {
  outlet_->write(text_);
  text_.clear();
}

void ResultsFile::begin() {
  if (std::exchange(begun_, true)) return;
  layout_->begin(text_, header_, outlet_->regular());
  write();
}

void ResultsFile::frame(uint64_t number, std::span<const double> features, std::span<const double> models,
                        bool may_wait) {
  if (finished_) {
    if (!outlet_->regular())
      return outlet_->give_up(
          "the stream went on after its end, which only a regular file can be changed for");
    if (outlet_->drain(std::chrono::hours(1), [] { return false; })) outlet_->truncate(ending_);
    finished_ = rated_ = false;
  }
  begin();
  values_.clear();
  for (const size_t column : columns_)
    values_.push_back(column < features.size() ? features[column] : models[column - features.size()]);
  for (size_t i = 0; i < values_.size(); ++i) pools_[i].add(values_[i]);
  last_ = Clock::now();
  if (frames_++ == 0) first_ = last_;
  if (!may_wait && outlet_->full())
    outlet_->give_up("too much waits for its reader, and a live stream does not");
  layout_->frame(text_, number, values_);
  write();
}

void ResultsFile::finish(const Ending &ending, std::chrono::milliseconds patience,
                         const std::function<bool()> &cancelled) {
  if (!finished_) {
    begin();
    ending_ = outlet_->position();
    layout_->end(text_, pools_, ending.aggregates, ending.counters);
    write();
    finished_ = true;
  }
  if (rated_ || !outlet_->drain(patience, cancelled)) return;
  rated_ = true;
  if (!outlet_->regular()) return outlet_->close();
  const double seconds = std::chrono::duration<double>(last_ - first_).count();
  const std::string rate =
      layout_->rate(seconds > 0 ? double(frames_) / seconds : std::numeric_limits<double>::infinity());
  if (!rate.empty()) outlet_->overwrite(layout_->rate_at(), rate);
}

std::optional<Status> ResultsFile::take_failure() {
  if (failure_taken_) return std::nullopt;
  Status status = outlet_->status();
  if (status.ok()) return std::nullopt;
  failure_taken_ = true;
  return status;
}

}  // namespace vmafhip
