// The score over time as SVG: see the header.
#include "examples/monitor/score_plot.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "examples/monitor/markup.h"
#include "examples/monitor/state_json.h"

namespace monitor {

namespace {

constexpr double kWidth = 1000, kHeight = 240;
constexpr double kLeft = 40, kRight = 990, kTop = 34, kBottom = 214;  // of the plot in it
constexpr size_t kMostPoints = 900;                                   // about one a pixel

struct Point {
  double seconds, mean, worst;
};

// The score's axis ends where a measure is best: at 100, or at 1 for what lies between 0 and 1; errors begin at 0.
class Axes {
 public:
  Axes(const Record &record, const std::vector<Point> &points, std::optional<double> threshold)
      : above(record.higher_is_worse),
        from_(points.front().seconds),
        to_(std::max(points.back().seconds, from_ + 1)),
        unit_(decimals_of(record.now().score_name) > 2 ? 0.1 : 10) {
    double low = threshold.value_or(points.front().mean), high = low;
    for (const Point &point : points) {
      low = std::min({low, point.mean, point.worst});
      high = std::max({high, point.mean, point.worst});
    }
    const double bottom = std::floor(low / unit_ - 0.5), top = std::ceil(high / unit_);
    low_ = unit_ * (low < 0 ? bottom : above ? 0 : std::max(bottom, 0.0));
    high_ = unit_ * std::max(top, above ? 1.0 : 10.0);
  }
  double x(double seconds) const { return kLeft + (seconds - from_) / (to_ - from_) * (kRight - kLeft); }
  double y(double score) const { return kBottom - (score - low_) / (high_ - low_) * (kBottom - kTop); }
  double from() const { return from_; }
  double to() const { return to_; }
  double low() const { return low_; }
  double high() const { return high_; }
  double unit() const { return unit_; }

  const bool above;  // bad scores lie there

 private:
  double from_, to_, unit_, low_, high_;
};

std::string coordinates(double x, double y) { return decimal(x, 1) + "," + decimal(y, 1) + " "; }

std::string line(const char *name, double x1, double y1, double x2, double y2) {
  return std::string("<line class=\"") + name + "\" x1=\"" + decimal(x1, 1) + "\" y1=\"" + decimal(y1, 1) +
         "\" x2=\"" + decimal(x2, 1) + "\" y2=\"" + decimal(y2, 1) + "\"/>";
}

std::string text(const char *name, double x, double y, const char *anchor, const std::string &words) {
  return std::string("<text class=\"") + name + "\" x=\"" + decimal(x, 1) + "\" y=\"" + decimal(y, 1) +
         "\" text-anchor=\"" + anchor + "\">" + escaped(words) + "</text>";
}

std::vector<Point> read_points(const Record &record) {
  std::vector<Point> points;
  // All seconds, the last one too: the report comes when nothing follows, or shows what there is.
  for (const nlohmann::json &point : points_json(record, INT64_MAX, INT64_MIN, kMostPoints)) {
    points.push_back({point[0].get<double>() / 1000, point[1], point[2]});
  }
  return points;
}

// Stretches without a hole: points that lie apart no more than is usual, twice over.
std::vector<std::vector<Point>> stretches(const std::vector<Point> &points) {
  double usual = INFINITY;
  for (size_t n = 1; n < points.size(); ++n) {
    usual = std::min(usual, points[n].seconds - points[n - 1].seconds);
  }
  std::vector<std::vector<Point>> result;
  for (const Point &point : points) {
    if (result.empty() || point.seconds - result.back().back().seconds > 2 * usual) result.emplace_back();
    result.back().push_back(point);
  }
  return result;
}

std::string draw_grid(const Axes &axes) {
  std::string svg;
  const double range = (axes.high() - axes.low()) / axes.unit();
  const double step = range <= 2 ? 0.5 : range <= 6 ? 1 : range <= 12 ? 2 : std::ceil(range / 6);
  for (int n = 0; n * step <= range + 1e-9; ++n) {
    const double score = axes.high() - n * step * axes.unit();
    svg += line("grid", kLeft, axes.y(score), kRight, axes.y(score));
    svg += text("axis", kLeft - 6, axes.y(score) + 4, "end", decimal(score, axes.unit() < 1 ? 2 : 0));
  }
  // Whole seconds, so that no label stands twice.
  const double pause = std::max(1., std::ceil((axes.to() - axes.from()) / 5));
  for (double seconds = axes.from(); seconds <= axes.to(); seconds += pause) {
    const double x = axes.x(seconds);
    const char *anchor = x < kLeft + 30 ? "start" : x > kRight - 30 ? "end" : "middle";
    svg += text("axis", axes.x(seconds), kBottom + 18, anchor,
                wall_time(static_cast<Time>(seconds * 1e6), true));
  }
  return svg;
}

std::string draw_levels(const Axes &axes, std::optional<double> threshold, std::optional<double> clear) {
  if (!threshold) return "";
  const double y = std::clamp(axes.y(*threshold), kTop, kBottom);
  const double begin = axes.above ? kTop : y, end = axes.above ? y : kBottom;
  std::string svg = "<rect class=\"zone\" x=\"" + decimal(kLeft, 0) + "\" y=\"" + decimal(begin, 1) +
                    "\" width=\"" + decimal(kRight - kLeft, 0) + "\" height=\"" + decimal(end - begin, 1) +
                    "\"/>";
  // Each text stands on its level's side that is away from the other level.
  const double bad_side = axes.above ? -5 : 13, good_side = axes.above ? 13 : -5;
  svg += line("level", kLeft, y, kRight, y);
  svg += text("level", kLeft + 6, y + bad_side, "start",
              (axes.above ? "alert above " : "alert below ") + plain(*threshold));
  if (clear && *clear != *threshold && *clear >= axes.low() && *clear <= axes.high()) {
    svg += line("clear", kLeft, axes.y(*clear), kRight, axes.y(*clear));
    svg += text("clear", kLeft + 6, axes.y(*clear) + good_side, "start", "clear at " + plain(*clear));
  }
  return svg;
}

std::string draw_score(const Axes &axes, const std::vector<Point> &points) {
  std::string svg;
  for (const std::vector<Point> &stretch : stretches(points)) {
    std::string mean, worst;
    for (const Point &point : stretch) {
      mean += coordinates(axes.x(point.seconds), axes.y(point.mean));
      worst.insert(0, coordinates(axes.x(point.seconds), axes.y(point.worst)));
    }
    if (stretch.size() == 1) {
      svg += line("line", axes.x(stretch[0].seconds), axes.y(stretch[0].mean), axes.x(stretch[0].seconds),
                  axes.y(stretch[0].worst) + 1);
      continue;
    }
    svg += "<polygon class=\"band\" points=\"" + mean + worst + "\"/>";
    svg += "<polyline class=\"line\" points=\"" + mean + "\"/>";
  }
  return svg;
}

// Two rows of texts; where both are taken the mark stands without.
std::string draw_marks(const Axes &axes, const Record &record) {
  std::string svg;
  double right[2] = {0, 0};
  for (const Event &event : record.events()) {
    const double seconds = static_cast<double>(event.time) / 1e6;
    if (seconds < axes.from() - 1 || seconds > axes.to() + 1) continue;
    const double x = std::clamp(axes.x(seconds), kLeft, kRight);
    const bool bad = event.kind == EventKind::lost || event.kind == EventKind::alert_raised ||
                     event.kind == EventKind::file_error;
    const char *name = bad ? "mark bad" : "mark";
    std::string words = event_name(event.kind);
    std::ranges::replace(words, '_', ' ');
    svg += "<g><title>" + escaped(wall_time(event.time, true) + " " + words + ": " + event.text) +
           "</title>" + line(name, x, kTop, x, kBottom);
    const double half = 3 * static_cast<double>(words.size());  // of a text of 11 pixels, about
    const double middle = std::clamp(x, kLeft + half, kRight - half);
    for (int row = 0; row < 2; ++row) {
      if (middle - half < right[row] + 6) continue;
      svg += text(name, middle, kTop - 5 - 13 * row, "middle", words);
      right[row] = middle + half;
      break;
    }
    svg += "</g>";
  }
  return svg;
}

}  // namespace

std::string score_plot(const Record &record, std::optional<double> threshold, std::optional<double> clear) {
  const std::vector<Point> points = read_points(record);
  if (points.empty()) return "";
  const Axes axes(record, points, threshold);
  const auto worst = std::ranges::min_element(
      points, [&](double a, double b) { return record.worse(a, b); }, &Point::worst);
  const std::string title = "Score of " + record.channel + " / " + record.name + " over time, worst " +
                            decimal(worst->worst, decimals_of(record.now().score_name) - 1) + " at " +
                            wall_time(static_cast<Time>(worst->seconds * 1e6), true);
  return "<svg viewBox=\"0 0 " + decimal(kWidth, 0) + " " + decimal(kHeight, 0) +
         "\" role=\"img\" aria-label=\"" + escaped(title) + "\">" + draw_grid(axes) +
         draw_levels(axes, threshold, clear) + draw_score(axes, points) + draw_marks(axes, record) + "</svg>";
}

}  // namespace monitor
