// Pictures for people to look at: grey, 16 bits little-endian, one after the other in a file without header, each where
// its frame number puts it. Frames may come in any order and from several threads.
//
// A file is opened, written and closed for each picture, so that all that a disk has to say about it (full, gone, over
// quota) is known at once, and nothing is left open. After the first failure nothing is written any more.
#pragma once
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "engine/status.h"

namespace vmafhip {

class HeatMaps {
 public:
  // Creates the folder, and the files in it, empty. status() says whether that worked.
  HeatMaps(const std::string &folder, const std::vector<std::string> &names);
  HeatMaps(const HeatMaps &) = delete;
  ~HeatMaps();

  // Puts the picture of a frame into a file; all pictures of a file have the same size.
  void write(size_t file, uint64_t frame, const uint16_t *pixels, size_t count);
  // The first failure, naming the file.
  Status status() const;

 private:
  using FileId = std::pair<uint64_t, uint64_t>;  // device and inode

  void create(const std::string &path);
  void fail(const std::string &path, int error_number);
  void fail(const std::string &path, const std::string &reason);

  std::vector<std::string> paths_;
  std::vector<FileId> claimed_;
  mutable std::mutex mutex_;
  Status status_;
};

}  // namespace vmafhip
