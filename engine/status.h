// How the engine reports failure: no exceptions cross its public face. The text says what to do about
// it; the element posts it as it stands.
#pragma once
#include <string>
#include <utility>
#include <variant>

namespace vmafhip {

enum class Code {
  ok,
  invalid_argument,  // an option, name or value that cannot be understood
  not_found,         // a model, feature or file that is not there
  unsupported,       // understood, but not for this picture size, depth or machine
  io,                // reading or writing failed
  resource,          // memory or a device is missing
};

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string message) : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == Code::ok; }
  Code code() const { return code_; }
  const std::string &message() const { return message_; }

 private:
  Code code_ = Code::ok;
  std::string message_;
};

// A value or the Status that says why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}
  Result(Status status) : state_(std::move(status)) {}  // must not be ok()

  bool ok() const { return state_.index() == 0; }
  T &value() { return std::get<0>(state_); }
  const T &value() const { return std::get<0>(state_); }
  T &operator*() { return value(); }
  const T &operator*() const { return value(); }
  T *operator->() { return &value(); }
  const T *operator->() const { return &value(); }
  // ok() status if there is a value.
  Status status() const { return ok() ? Status() : std::get<1>(state_); }

 private:
  std::variant<T, Status> state_;
};

}  // namespace vmafhip
