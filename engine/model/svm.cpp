#include "engine/model/svm.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>

#include "engine/model/limits.h"
#include "engine/model/refused.h"

namespace vmafhip {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

// The words of a text, line by line.
class Words {
 public:
  explicit Words(std::string_view text) : text_(text) {}

  // Goes to the next line that holds a word; false: there is none.
  bool next_line() {
    while (!text_.empty()) {
      const size_t end = std::min(text_.find('\n'), text_.size());
      line_ = text_.substr(0, end);
      text_.remove_prefix(std::min(end + 1, text_.size()));
      ++number_;
      if (!std::all_of(line_.begin(), line_.end(), is_space)) return true;
    }
    line_ = {};
    return false;
  }

  // The next word of this line, empty at its end.
  std::string_view next() {
    while (!line_.empty() && is_space(line_.front())) line_.remove_prefix(1);
    const auto end = std::find_if(line_.begin(), line_.end(), is_space);
    const std::string_view word = line_.substr(0, static_cast<size_t>(end - line_.begin()));
    line_.remove_prefix(word.size());
    return word;
  }

  [[noreturn]] void fail(const std::string &what) const {
    refuse("line " + std::to_string(number_) + ": " + what);
  }

  double real(std::string_view word, const char *what) const {
    double value = 0;
    // strtod, which libsvm uses, takes a plus sign; from_chars does not.
    const std::string_view digits = word.starts_with('+') ? word.substr(1) : word;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size() || digits.empty())
      fail(std::string(what) + " " + in_quotes(word) + " is not a number");
    if (!(std::abs(value) <= kLargestNumber))
      fail(std::string(what) + " " + in_quotes(word) + " is too large");
    return value;
  }

  long integer(std::string_view word, const char *what, long min, long max) const {
    long value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size() || value < min || value > max)
      fail(std::string(what) + " " + in_quotes(word) + " is not a whole number from " + std::to_string(min) +
           " to " + std::to_string(max));
    return value;
  }

 private:
  std::string_view text_, line_;
  long number_ = 0;
};

Svm::Kernel parse_kernel(const Words &words, std::string_view name) {
  if (name == "linear") return Svm::Kernel::linear;
  if (name == "polynomial") return Svm::Kernel::poly;
  if (name == "rbf") return Svm::Kernel::rbf;
  if (name == "sigmoid") return Svm::Kernel::sigmoid;
  words.fail("kernel_type " + in_quotes(name) + " is not one of linear, polynomial, rbf, sigmoid");
}

// libsvm's integer power: squares, low bit of the exponent first.
double power(double base, int exponent) {
  double result = 1;
  for (; exponent > 0; exponent /= 2) {
    if (exponent % 2 == 1) result *= base;
    base *= base;
  }
  return result;
}

}  // namespace

Svm Svm::parse(std::string_view text, int inputs) {
  Svm svm;
  Words words(text);
  std::optional<long> total;
  std::optional<double> gamma, coef0, rho;
  std::optional<long> degree;
  std::optional<Kernel> kernel;
  bool svm_type = false, vectors_follow = false;

  while (!vectors_follow) {
    if (!words.next_line()) refuse("the line 'SV' and the support vectors are missing");
    const std::string_view key = words.next();
    if (key == "SV") {
      vectors_follow = true;
    } else if (key == "svm_type") {
      const std::string_view type = words.next();
      if (type != "nu_svr" && type != "epsilon_svr")
        words.fail("svm_type " + in_quotes(type) + " is not a regression (nu_svr or epsilon_svr)");
      svm_type = true;
    } else if (key == "kernel_type") {
      kernel = parse_kernel(words, words.next());
    } else if (key == "degree") {
      degree = words.integer(words.next(), "degree", 0, 16);
    } else if (key == "gamma") {
      gamma = words.real(words.next(), "gamma");
      if (*gamma < 0) words.fail("gamma must not be negative");
    } else if (key == "coef0") {
      coef0 = words.real(words.next(), "coef0");
    } else if (key == "nr_class") {
      words.integer(words.next(), "nr_class", 2, 2);
    } else if (key == "total_sv") {
      total = words.integer(words.next(), "total_sv", 1, kMaxSupportVectors);
    } else if (key == "rho") {
      rho = words.real(words.next(), "rho");
    } else if (key == "label" || key == "probA" || key == "probB" || key == "nr_sv") {
      while (!words.next().empty()) {  // of no use in a regression
      }
    } else {
      words.fail("unknown key " + in_quotes(key));
    }
    if (const std::string_view rest = words.next(); !rest.empty())
      words.fail(in_quotes(rest) + " after " + std::string(key) + " is one word too many");
  }

  const auto need = [](bool there, const char *key) {
    if (!there) refuse(std::string(key) + " is missing");
  };
  need(svm_type, "svm_type");
  need(kernel.has_value(), "kernel_type");
  need(total.has_value(), "total_sv");
  need(rho.has_value(), "rho");
  need(gamma.has_value() || *kernel == Kernel::linear, "gamma");
  need(degree.has_value() || *kernel != Kernel::poly, "degree");
  need(coef0.has_value() || (*kernel != Kernel::poly && *kernel != Kernel::sigmoid), "coef0");
  svm.kernel_ = *kernel;
  svm.rho_ = *rho;
  svm.gamma_ = gamma.value_or(0);
  svm.coef0_ = coef0.value_or(0);
  svm.degree_ = static_cast<int>(degree.value_or(0));

  while (words.next_line()) {
    if (svm.coefficients_.size() == static_cast<size_t>(*total))
      words.fail("more support vectors than total_sv says (" + std::to_string(*total) + ")");
    svm.coefficients_.push_back(words.real(words.next(), "coefficient"));
    svm.vectors_.resize(svm.vectors_.size() + static_cast<size_t>(inputs));
    double *const vector = &svm.vectors_[svm.vectors_.size() - static_cast<size_t>(inputs)];
    long last = 0;
    for (std::string_view pair = words.next(); !pair.empty(); pair = words.next()) {
      const size_t colon = pair.find(':');
      if (colon == pair.npos) words.fail(in_quotes(pair) + " is not INDEX:VALUE");
      const long index = words.integer(pair.substr(0, colon), "index", 1, inputs);
      if (index <= last) words.fail("index " + std::to_string(index) + " does not ascend");
      vector[index - 1] = words.real(pair.substr(colon + 1), "value");
      last = index;
    }
  }
  if (svm.coefficients_.size() != static_cast<size_t>(*total))
    refuse("total_sv says " + std::to_string(*total) + " support vectors, but there are " +
           std::to_string(svm.coefficients_.size()));
  return svm;
}

double Svm::similarity(std::span<const double> x, const double *vector) const {
  double sum = 0;
  if (kernel_ == Kernel::rbf) {
    for (size_t i = 0; i < x.size(); ++i) {
      const double e = x[i] - vector[i];
      sum += e * e;
    }
    return std::exp(-gamma_ * sum);
  }
  for (size_t i = 0; i < x.size(); ++i) sum += x[i] * vector[i];
  switch (kernel_) {
    case Kernel::poly:
      return power(gamma_ * sum + coef0_, degree_);
    case Kernel::sigmoid:
      return std::tanh(gamma_ * sum + coef0_);
    default:
      return sum;
  }
}

double Svm::operator()(std::span<const double> x) const {
  double sum = 0;
  const double *vector = vectors_.data();
  for (double coefficient : coefficients_) {
    sum += coefficient * similarity(x, vector);
    vector += x.size();
  }
  return sum - rho_;
}

}  // namespace vmafhip
