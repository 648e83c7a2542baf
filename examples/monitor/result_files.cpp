#include "examples/monitor/result_files.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <unistd.h>

#include <cerrno>

namespace monitor {

std::string ResultFiles::next() {
  open_.clear();
  // By the target of a link.
  const bool exists = g_file_test(name_.c_str(), G_FILE_TEST_EXISTS);
  if (name_.empty() || (exists && !g_file_test(name_.c_str(), G_FILE_TEST_IS_REGULAR))) return name_;
  const size_t slash = name_.rfind('/'), dot = name_.rfind('.');
  const bool extension = dot != std::string::npos && (slash == std::string::npos || dot > slash + 1);
  const std::string stem = name_.substr(0, extension ? dot : name_.size()), rest = name_.substr(stem.size());
  // Numbers go on from the last one: those before it are taken, or are no longer wanted.
  for (;; ++number_) {
    const std::string name = number_ == 1 ? name_ : stem + "-" + std::to_string(number_) + rest;
    const int file = open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0 && errno == EEXIST) continue;
    if (file < 0) return name;  // whoever opens it will say why it cannot be
    close(file);
    return open_ = name;
  }
}

void ResultFiles::run_ends(bool scored) {
  if (open_.empty()) return;
  if (scored)
    kept_.push_back(open_);
  else
    g_unlink(open_.c_str());
  open_.clear();
  if (kept_.size() <= kKept) return;
  g_unlink(kept_.front().c_str());
  kept_.pop_front();
}

}  // namespace monitor
