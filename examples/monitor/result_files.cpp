#include "examples/monitor/result_files.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <unistd.h>

#include <cerrno>

namespace monitor {

namespace {

bool is_same(const struct stat &a, const struct stat &b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

}  // namespace

std::string ResultFiles::next() {
  open_ = {};
  // By the target of a link.
  const bool exists = g_file_test(name_.c_str(), G_FILE_TEST_EXISTS);
  if (name_.empty() || (exists && !g_file_test(name_.c_str(), G_FILE_TEST_IS_REGULAR))) return name_;
  const size_t slash = name_.rfind('/'), dot = name_.rfind('.');
  const bool extension = dot != std::string::npos && (slash == std::string::npos || dot > slash + 1);
  const std::string stem = name_.substr(0, extension ? dot : name_.size()), rest = name_.substr(stem.size());
  // Numbers only grow, also where somebody has taken a file away: who gathers them sees no name twice.
  for (;; ++number_) {
    const std::string name = number_ == 1 ? name_ : stem + "-" + std::to_string(number_) + rest;
    const int file = open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0 && errno == EEXIST) continue;
    if (file < 0) return name;  // whoever opens it will say why it cannot be
    open_.name = name;
    fstat(file, &open_.made);
    close(file);
    return name;
  }
}

void ResultFiles::run_ends(bool scored) {
  if (open_.name.empty()) return;
  if (scored) {
    ++number_;
    // As it has become: an inode alone would be that of another file, once this one is gone.
    struct stat now;
    if (lstat(open_.name.c_str(), &now) == 0 && is_same(now, open_.made)) {
      open_.made = now;
      kept_.push_back(open_);
    }
  } else {
    remove(open_, false);
  }
  open_ = {};
  if (kept_.size() <= kKept) return;
  remove(kept_.front(), true);
  kept_.pop_front();
}

void ResultFiles::remove(const File &file, bool unchanged) {
  struct stat now;
  if (lstat(file.name.c_str(), &now) != 0 || !is_same(now, file.made)) return;
  const timespec a = now.st_mtim, b = file.made.st_mtim;
  if (unchanged && (a.tv_sec != b.tv_sec || a.tv_nsec != b.tv_nsec)) return;
  g_unlink(file.name.c_str());
}

}  // namespace monitor
