// Fits the engine's response surface (engine/model/surface.h) to a regression model and writes it as a C++ table.
//
//   fit_model --model vmaf_v0.6.1.json --box 0:1.2,0:60,0:1.2,0:1.2,0:1.2,0:1.2 --degree 7 --name surface_v061
//             --output engine/model/surface_data_v061.cpp [--samples N] [--check N] [--seed N]
//
// Least squares on random samples of the box, drawn denser towards its faces (arcsine), where Chebyshev's
// polynomials are orthogonal: the normal equations are then well conditioned, and the largest deviation comes out
// close to the best possible. Everything is summed in a fixed order and rounded to 9 decimals, below which machines
// and compilers may differ: they write the same file.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "engine/model/model_file.h"
#include "engine/model/refused.h"
#include "engine/model/surface.h"

namespace vmafhip {
namespace {

constexpr int kBlock = 8;  // samples added to the normal equations at a time

struct Problem {
  ModelFile model;
  std::vector<double> low, high, spread;
  double offset = 0;
  int degree = 0;
  int inputs() const { return static_cast<int>(low.size()); }
  size_t size() const { return surface_size(inputs(), degree); }

  std::vector<double> features(const std::vector<double> &u) const {
    std::vector<double> x(u.size());
    for (size_t i = 0; i < u.size(); ++i) x[i] = (low[i] + high[i]) / 2 + (high[i] - low[i]) / 2 * u[i];
    return x;
  }
  // What P must be at u.
  double target(const std::vector<double> &u) const {
    double t = 0;
    for (size_t i = 0; i < u.size(); ++i) t += spread[i] * u[i] * u[i];
    return (predict_raw(model, features(u)) - offset) / exp_minus(t);
  }
};

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  double uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }  // 0 <= x < 1

 private:
  std::mt19937_64 engine_;  // the same numbers with every library
};

// Solves the normal equations of the least squares problem by Cholesky's method. Each product of Chebyshev
// polynomials has a mean square of 2^-m, m the number of its factors of degree > 0, at arcsine samples.
std::vector<double> fit(const Problem &problem, int samples, Random &random) {
  const size_t n = problem.size();
  const size_t inputs = problem.low.size();
  std::vector<double> a(n * n), b(n);  // lower triangle
  std::array<std::vector<double>, kBlock> rows;
  for (auto &row : rows) row.resize(n);
  std::vector<double> u(inputs);
  for (int sample = 0; sample < samples; sample += kBlock) {
    std::array<double, kBlock> y;
    for (size_t k = 0; k < kBlock; ++k) {
      for (double &v : u) v = std::cos(std::numbers::pi * random.uniform());
      surface_basis(problem.inputs(), problem.degree, u.data(), rows[k].data());
      y[k] = problem.target(u);
    }
    for (size_t i = 0; i < n; ++i) {
      double *const line = &a[i * n];
      const std::array<double, kBlock> f = {rows[0][i], rows[1][i], rows[2][i], rows[3][i],
                                            rows[4][i], rows[5][i], rows[6][i], rows[7][i]};
      const double *const r0 = rows[0].data(), *const r1 = rows[1].data(), *const r2 = rows[2].data(),
                          *const r3 = rows[3].data(), *const r4 = rows[4].data(), *const r5 = rows[5].data(),
                          *const r6 = rows[6].data(), *const r7 = rows[7].data();
      for (size_t j = 0; j <= i; ++j)
        line[j] += ((f[0] * r0[j] + f[1] * r1[j]) + (f[2] * r2[j] + f[3] * r3[j])) +
                   ((f[4] * r4[j] + f[5] * r5[j]) + (f[6] * r6[j] + f[7] * r7[j]));
      for (size_t k = 0; k < kBlock; ++k) b[i] += f[k] * y[k];
    }
  }

  for (size_t i = 0; i < n; ++i) {  // a becomes L of L * L^T, b then the solution of L * z = b
    for (size_t j = 0; j <= i; ++j) {
      const double *const p = &a[i * n], *const q = &a[j * n];
      std::array<double, 4> part{};
      size_t k = 0;
      for (; k + 4 <= j; k += 4)
        for (size_t l = 0; l < 4; ++l) part[l] += p[k + l] * q[k + l];
      double sum = a[i * n + j] - ((part[0] + part[1]) + (part[2] + part[3]));
      for (; k < j; ++k) sum -= p[k] * q[k];
      if (i == j && !(sum > 0)) refuse("too few samples for this degree");
      a[i * n + j] = i == j ? std::sqrt(sum) : sum / a[j * n + j];
    }
    for (size_t j = 0; j < i; ++j) b[i] -= a[i * n + j] * b[j];
    b[i] /= a[i * n + i];
  }
  for (size_t i = n; i-- > 0;) {
    b[i] /= a[i * n + i];
    for (size_t j = 0; j < i; ++j) b[j] -= a[i * n + j] * b[i];
  }
  for (double &c : b) c = std::round(c * 1e9) / 1e9 + 0.0;  // + 0.0: no negative zeros
  return b;
}

// Largest deviation from the model, in VMAF points, over a grid of 5 points a feature and over random points.
std::array<double, 2> deviations(const Problem &problem, const Surface &surface, int check, Random &random) {
  const size_t inputs = problem.low.size();
  std::array<double, 2> worst{};
  bool outside = false;
  std::vector<double> u(inputs);
  const auto compare = [&](double &largest) {
    const std::vector<double> x = problem.features(u);
    largest = std::max(largest, std::abs(evaluate(surface, x, &outside) - predict_raw(problem.model, x)));
  };
  size_t points = 1;
  for (size_t i = 0; i < inputs; ++i) points *= 5;
  for (size_t p = 0; p < points; ++p) {
    size_t rest = p;
    for (double &v : u) {
      v = static_cast<double>(rest % 5) / 2 - 1;
      rest /= 5;
    }
    compare(worst[0]);
  }
  for (int p = 0; p < check; ++p) {
    for (double &v : u) v = 2 * random.uniform() - 1;
    compare(worst[1]);
  }
  return worst;
}

void write_list(std::FILE *out, const char *name, const std::vector<double> &values, const char *format) {
  std::fprintf(out, "constexpr double %s[] = {\n", name);
  int column = 0;
  for (double value : values) {
    char text[40];
    std::snprintf(text, sizeof text, format, value);
    const int width = static_cast<int>(std::string_view(text).size()) + 2;
    if (column > 0 && column + width > 108) {
      std::fputs("\n", out);
      column = 0;
    }
    std::fprintf(out, "%s%s,", column == 0 ? "    " : " ", text);
    column += column == 0 ? width + 3 : width;
  }
  std::fputs("\n};\n\n", out);
}

int run(std::map<std::string, std::string> arguments) {
  for (const char *key : {"model", "box", "degree", "name", "output"})
    if (arguments[key].empty()) refuse(std::string("--") + key + " is missing");
  const auto number = [&](const char *key, int otherwise) {
    return arguments[key].empty() ? otherwise : std::atoi(arguments[key].c_str());
  };

  Problem problem{.model = read_model_file(arguments["model"]).base};
  const ModelFile &model = problem.model;
  if (!model.normalised || model.svm.kernel() != Svm::Kernel::rbf)
    refuse("only rescaled rbf models can be fitted");
  const char *text = arguments["box"].c_str();
  for (const Line &line : model.inputs) {
    double low = 0, high = 0;
    int used = 0;
    if (std::sscanf(text, "%lf:%lf%n", &low, &high, &used) != 2 || !(low < high))
      refuse("--box: LOW:HIGH a feature");
    text += used + (text[used] == ',');
    problem.low.push_back(low);
    problem.high.push_back(high);
    const double half = line.slope * (high - low) / 2;
    problem.spread.push_back(model.svm.gamma() * half * half);
  }
  if (*text) refuse("--box has more ranges than the model has features");
  problem.offset = -(model.svm.rho() + model.score.intercept) / model.score.slope;
  problem.degree = number("degree", 0);
  if (problem.degree < 1 || problem.degree > kMaxSurfaceDegree || problem.inputs() > kMaxSurfaceInputs)
    refuse("degree or number of features is out of range");
  const int samples = number("samples", 32000) / kBlock * kBlock, check = number("check", 1000000);
  const int seed = number("seed", 1);

  Random random(static_cast<uint64_t>(seed));
  const std::vector<double> coefficients = fit(problem, samples, random);
  const Surface surface{problem.inputs(),      problem.degree, problem.low.data(), problem.high.data(),
                        problem.spread.data(), problem.offset, coefficients.data()};
  const auto [grid, inside] = deviations(problem, surface, check, random);
  std::printf("%zu coefficients; largest deviation %.6f on the grid, %.6f on random points\n",
              coefficients.size(), grid, inside);

  std::FILE *const out = std::fopen(arguments["output"].c_str(), "w");
  if (!out) refuse("cannot write " + arguments["output"]);
  const std::string file = arguments["model"].substr(arguments["model"].rfind('/') + 1);
  std::fprintf(
      out,
      "// Generated, do not edit: response surface fitted to the answers of %s at random points by\n"
      "//   fit_model --model %s --box %s --degree %d\n"
      "//             --samples %d --seed %d --check %d --name %s\n"
      "// %zu coefficients, in VMAF points. Largest deviation from the model: %.6f on a grid of 5 points a\n"
      "// feature, faces included; %.6f on %d random points of the box.\n"
      "#include \"engine/model/surface_data.h\"\n\nnamespace vmafhip {\nnamespace {\n\n",
      file.c_str(), file.c_str(), arguments["box"].c_str(), problem.degree, samples, seed, check,
      arguments["name"].c_str(), coefficients.size(), grid, inside, check);
  std::fputs("// Features in the model's order.\n", out);
  write_list(out, "kLow", problem.low, "%.17g");
  write_list(out, "kHigh", problem.high, "%.17g");
  write_list(out, "kSpread", problem.spread, "%.17g");
  write_list(out, "kCoefficients", coefficients, "%.9f");
  std::fprintf(
      out,
      "static_assert(sizeof kCoefficients == surface_size(%d, %d) * sizeof(double));\n\n}  // namespace\n\n"
      "const Surface %s = {%d, %d, kLow, kHigh, kSpread, %.17g, kCoefficients};\n\n}  // namespace vmafhip\n",
      problem.inputs(), problem.degree, arguments["name"].c_str(), problem.inputs(), problem.degree,
      problem.offset);
  return std::fclose(out);
}

}  // namespace
}  // namespace vmafhip

int main(int count, char **words) {
  std::map<std::string, std::string> arguments;
  for (int i = 1; i < count; i += 2) {
    const std::string word = words[i];
    if (!word.starts_with("--") || i + 1 == count) {
      std::fprintf(stderr, "fit_model: '%s' is not '--NAME VALUE'; see the head of fit_model.cpp\n",
                   words[i]);
      return 1;
    }
    arguments[word.substr(2)] = words[i + 1];
  }
  try {
    return vmafhip::run(arguments);
  } catch (const vmafhip::Refused &refused) {
    std::fprintf(stderr, "fit_model: %s\n", refused.message.c_str());
    return 1;
  }
}
