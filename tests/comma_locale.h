// A locale with a decimal comma, as many users have it and GTK applications set it: nothing that vmafhip reads or
// writes may depend on it. Made by localedef of the package "locales", since test machines often have none.
#pragma once
#include <unistd.h>

#include <clocale>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace vmafhip::test {

// In force while it lives, if good().
class CommaLocale {
 public:
  CommaLocale() {
    const std::filesystem::path folder = std::filesystem::absolute("locale");
    std::filesystem::create_directories(folder);
    if (!std::filesystem::exists(folder / kName)) {
      const std::string made = (folder / ("new." + std::to_string(getpid()))).string();
      if (std::system(("localedef -i de_DE -f UTF-8 '" + made + "' 2>/dev/null").c_str()) == 0) {
        std::error_code taken;  // by another test at the same time: fine
        std::filesystem::rename(made, folder / kName, taken);
      }
    }
    setenv("LOCPATH", folder.c_str(), 1);
    good_ = std::setlocale(LC_ALL, kName) && std::string(std::localeconv()->decimal_point) == ",";
  }
  CommaLocale(const CommaLocale &) = delete;
  ~CommaLocale() {
    std::setlocale(LC_ALL, "C");
    unsetenv("LOCPATH");
  }
  bool good() const { return good_; }

 private:
  static constexpr const char *kName = "de_DE.UTF-8";
  bool good_ = false;
};

}  // namespace vmafhip::test
