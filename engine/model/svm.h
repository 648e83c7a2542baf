// A support vector machine for regression in libsvm's text form.
#pragma once
#include <span>
#include <string_view>
#include <vector>

namespace vmafhip {

class Svm {
 public:
  enum class Kernel { linear, poly, rbf, sigmoid };

  // `inputs`: number of features; indices run from 1 to it. Throws Refused, naming the line.
  static Svm parse(std::string_view text, int inputs);

  // Sum over the support vectors in file order, minus rho: libsvm's order of f64 operations, so that results
  // are equal to the last bit. `x` holds `inputs` values.
  double operator()(std::span<const double> x) const;

  Kernel kernel() const { return kernel_; }
  double gamma() const { return gamma_; }
  double rho() const { return rho_; }
  size_t size() const { return coefficients_.size(); }

 private:
  double similarity(std::span<const double> x, const double *vector) const;

  Kernel kernel_ = Kernel::rbf;
  int degree_ = 0;
  double gamma_ = 0, coef0_ = 0, rho_ = 0;
  std::vector<double> coefficients_;
  std::vector<double>
      vectors_;  // size() rows of `inputs`; an absent index is 0, which changes no bit of any kernel
};

}  // namespace vmafhip
