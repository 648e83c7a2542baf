// Where the tests find libvmaf's model files, which are not part of this repository.
#pragma once
#include <cstdlib>
#include <filesystem>
#include <string>

namespace vmafhip::test {

// VMAFHIP_TEST_MODELS, else shared/models beside the source tree; empty if there is no such folder. Tests that
// need the files skip themselves then.
inline std::string model_files() {
  const char *wanted = std::getenv("VMAFHIP_TEST_MODELS");
  const std::filesystem::path folder = wanted && *wanted
                                           ? std::filesystem::path(wanted)
                                           : std::filesystem::path(VMAFHIP_SOURCE_ROOT) / "../shared/models";
  return std::filesystem::is_directory(folder) ? folder.lexically_normal().string() : std::string();
}

// While it lives, models are looked up in `folder` and, apart from it, only in the two folders under /usr that no
// variable names. An empty `folder` hides all files, so that the fitted surfaces are taken.
class ModelPath {
 public:
  explicit ModelPath(const std::string &folder) {
    for (Variable &v : variables_) {
      const char *value = std::getenv(v.name);
      v.was_set = value != nullptr;
      v.value = value ? value : "";
    }
    const std::string nowhere = "/nonexistent";
    setenv("VMAFHIP_MODEL_PATH", (folder.empty() ? nowhere : folder).c_str(), 1);
    setenv("XDG_DATA_HOME", nowhere.c_str(), 1);
    setenv("XDG_DATA_DIRS", nowhere.c_str(), 1);
  }
  ModelPath(const ModelPath &) = delete;
  ModelPath &operator=(const ModelPath &) = delete;
  ~ModelPath() {
    for (const Variable &v : variables_) {
      if (v.was_set)
        setenv(v.name, v.value.c_str(), 1);
      else
        unsetenv(v.name);
    }
  }

 private:
  struct Variable {
    const char *name;
    bool was_set = false;
    std::string value = {};
  };
  Variable variables_[3] = {{"VMAFHIP_MODEL_PATH"}, {"XDG_DATA_HOME"}, {"XDG_DATA_DIRS"}};
};

}  // namespace vmafhip::test
