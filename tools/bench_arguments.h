// Command line of vmafhip-bench.
#pragma once
#include <string>
#include <vector>

#include "engine/session.h"

namespace vmafhip::bench {

struct Arguments {
  PictureFormat format{1920, 1080, 8, Chroma::c420};
  int dist_width = 0, dist_height = 0;  // 0: the reference's
  SessionOptions session;
  int frames = 50, warmup = 5;
  double seconds = 1e9;
  int sessions = 1;
  double rate = 0;   // frames/s of each, 0 = as fast as it can
  int pictures = 0;  // different frames in memory, 0 = default
  bool stages = false;
  // Where pictures lie. Not `host`: copied there before the measurement, from where the GPU takes them.
  MemoryKind memory = MemoryKind::host;
  std::string ref;                // raw files instead of generated pictures
  std::vector<std::string> dist;  // one per distorted picture
  bool help = false;

  PictureFormat dist_format() const {
    PictureFormat f = format;
    if (dist_width > 0) f.width = dist_width, f.height = dist_height;
    return f;
  }
};

// Throws std::invalid_argument, with the option in its text.
Arguments parse(int argc, const char *const *argv);

extern const char kHelp[];

const char *chroma_text(Chroma chroma);

}  // namespace vmafhip::bench
