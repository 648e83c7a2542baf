#include "engine/scoring.h"

#include <algorithm>
#include <limits>

namespace vmafhip {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

}  // namespace

Scoring::Scoring(Plan plan, int distorted, int subsample)
    : plan_(std::move(plan)),
      pictures_(size_t(distorted)),
      present_(plan_.feature_names.size(), 1),
      subsample_(uint64_t(subsample)) {
  for (size_t d = 0; d < pictures_.size(); ++d) {
    PerPicture &p = pictures_[d];
    p.rows.resize(size_t(plan_.lookahead) + 2);
    for (Row &row : p.rows) {
      row.values.resize(plan_.feature_names.size(), kNone);
      row.aggregates.resize(plan_.aggregate_names.size(), kNone);
    }
    p.aggregates.resize(plan_.aggregate_names.size(), kNone);
    p.feature_pools.resize(plan_.feature_names.size());
    p.model_pools.resize(plan_.model_scores.size());
    for (size_t e = 0; e < plan_.extractors.size(); ++e)
      p.emit.push_back(
          [this, d, e](int output, uint64_t frame, double value) { take(d, e, output, frame, value); });
  }
}

Status Scoring::configure(const PictureFormat &format) {
  present_.assign(present_.size(), 1);
  for (const PlannedExtractor &e : plan_.extractors)
    for (size_t i = 0; i < e.columns.size(); ++i)
      if (e.columns[i] >= 0) present_[size_t(e.columns[i])] = e.extractor->outputs[i].exists_in(format);
  wanted_ = int(std::count(present_.begin(), present_.end(), 1));
  for (size_t m = 0; m < plan_.models.size(); ++m)
    for (const int column : plan_.models[m].columns)
      if (!has(size_t(column)))
        return Status(Code::unsupported, "model " + plan_.models[m].model->label() + " needs " +
                                             plan_.feature_names[size_t(column)] +
                                             ", which pictures without chroma do not have");
  for (PerPicture &p : pictures_) {
    p.scorers.clear();
    for (const PlannedExtractor &e : plan_.extractors)
      p.scorers.push_back(e.extractor->make_scorer(e.options, format));
    for (Row &row : p.rows) {
      row.values.assign(row.values.size(), kNone);
      row.aggregates.assign(row.aggregates.size(), kNone);
    }
  }
  reset();
  return Status();
}

void Scoring::reset() {
  added_ = given_out_ = 0;
  flushed_ = false;
  for (PerPicture &p : pictures_) {
    for (auto &scorer : p.scorers) scorer->reset();
    for (Row &row : p.rows) row.filled = 0;
    p.aggregates.assign(p.aggregates.size(), kNone);
    for (RunningPool &pool : p.feature_pools) pool.reset();
    for (RunningPool &pool : p.model_pools) pool.reset();
  }
}

void Scoring::take(size_t picture, size_t extractor, int output, uint64_t frame, double value) {
  const int column = plan_.extractors[extractor].columns[size_t(output)];
  if (column < 0 || !has(size_t(column)) || !scores(frame))
    return;  // an output that nobody asked for or the format does not have, or history for later frames
  PerPicture &p = pictures_[picture];
  Row &row = p.rows[frame % p.rows.size()];
  row.values[size_t(column)] = value;
  ++row.filled;
}

void Scoring::add(const std::byte *sums, const FrameLayout &layout) {
  for (size_t d = 0; d < pictures_.size(); ++d) {
    PerPicture &p = pictures_[d];
    Row &row = p.rows[added_ % p.rows.size()];
    row.filled = 0;
    for (size_t e = 0; e < p.scorers.size(); ++e) {
      const PlannedExtractor &planned = plan_.extractors[e];
      if (scores(added_) || planned.temporal)
        p.scorers[e]->add(added_, sums + layout.sums_at(planned.pass, int(d), planned.option_set), p.emit[e]);
    }
    aggregate(p, row.aggregates);
  }
  ++added_;
}

void Scoring::aggregate(const PerPicture &p, std::vector<double> &out) const {
  if (out.empty()) return;
  for (size_t e = 0; e < p.scorers.size(); ++e) {
    const PlannedExtractor &planned = plan_.extractors[e];
    p.scorers[e]->aggregate([&](int number, double value) {
      const int column = planned.aggregate_columns[size_t(number)];
      if (column >= 0) out[size_t(column)] = value;
    });
  }
}

// When all frames are given out, those count too that were not scored.
void Scoring::aggregate_all() {
  if (!flushed_ || added_ == 0 || next_out() < added_) return;
  for (PerPicture &p : pictures_) aggregate(p, p.aggregates);
}

void Scoring::flush() {
  flushed_ = true;
  for (PerPicture &p : pictures_)
    for (size_t e = 0; e < p.scorers.size(); ++e) p.scorers[e]->flush(p.emit[e]);
  aggregate_all();
}

bool Scoring::complete() const {
  if (next_out() >= added_) return false;
  for (const PerPicture &p : pictures_)
    if (p.rows[next_out() % p.rows.size()].filled != wanted_) return false;
  return true;
}

void Scoring::give_out(PerPicture &p, PictureScores &out) {
  const Row &row = p.rows[next_out() % p.rows.size()];
  out.features = row.values;
  out.models.resize(plan_.model_scores.size());
  p.aggregates = row.aggregates;
  out.extrapolated = false;
  for (const PlannedModel &planned : plan_.models) {
    model_inputs_.clear();
    for (const int column : planned.columns) model_inputs_.push_back(row.values[size_t(column)]);
    planned.model->predict(model_inputs_,
                           std::span(out.models).subspan(planned.first_score, planned.model->scores().size()),
                           &out.extrapolated);
  }
  for (size_t i = 0; i < out.models.size(); ++i) p.model_pools[i].add(out.models[i]);
  for (size_t i = 0; i < row.values.size(); ++i)
    if (has(i)) p.feature_pools[i].add(row.values[i]);
}

void Scoring::give_out(FrameScores &out) {
  out.index = next_out();
  out.warm_up = out.index < uint64_t(plan_.reads.lookback());
  out.dist.resize(pictures_.size());
  for (size_t d = 0; d < pictures_.size(); ++d) give_out(pictures_[d], out.dist[d]);
  ++given_out_;
  aggregate_all();
}

}  // namespace vmafhip
