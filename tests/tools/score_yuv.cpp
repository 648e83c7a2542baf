// Scores two raw planar files with the engine alone: the second opinion on what the element says.
//
//   score_yuv --width 1920 --height 1080 [--depth 8] [--chroma 420] [--model vmaf_v0.6.1] [--features LIST]
//             [--threads 0] REFERENCE DISTORTED
//
// Prints, with all digits, a line a frame and then a line a score name:
//
//   frame 0 vmaf_v0.6.1 97.428042756926425 integer_adm2 0.99 …
//   pooled vmaf_v0.6.1 mean 97.2 min 96.8 max 97.4 harmonic-mean 97.1
//
// Samples above 8 bits are little-endian words, low bits used; chroma planes are rounded up. Files of different
// lengths are an error: whoever compares streams wants to know.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/session.h"
#include "tests/clip_picture.h"

namespace {

using namespace vmafhip;

struct Arguments {
  clipgen::Format format{0, 0, 1, 8};
  SessionOptions session;
  std::vector<std::string> files;
};

int to_int(const std::string &option, const std::string &text) {
  char *end = nullptr;
  const long value = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end || value < 0 || value > 65536)
    throw std::invalid_argument(option + " " + text + ": not a number");
  return static_cast<int>(value);
}

Arguments parse(int argc, char **argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (!option.starts_with("--")) {
      arguments.files.push_back(option);
      continue;
    }
    if (++i == argc) throw std::invalid_argument(option + " needs a value");
    const std::string value = argv[i];
    if (option == "--width") {
      arguments.format.width = to_int(option, value);
    } else if (option == "--height") {
      arguments.format.height = to_int(option, value);
    } else if (option == "--depth") {
      arguments.format.depth = to_int(option, value);
    } else if (option == "--chroma") {
      arguments.format.set_chroma(value);
    } else if (option == "--model") {
      arguments.session.models = value;
    } else if (option == "--features") {
      arguments.session.features = value;
    } else if (option == "--threads") {
      arguments.session.threads = to_int(option, value);
    } else {
      throw std::invalid_argument("unknown option " + option);
    }
  }
  if (arguments.files.size() != 2) throw std::invalid_argument("two files are needed");
  return arguments;
}

void must(const Status &status) {
  if (!status.ok()) throw std::runtime_error(status.message());
}

std::ifstream open(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot open " + path);
  return file;
}

// False at the end of the file; a part of a frame is an error.
bool read_frame(std::ifstream &file, const std::string &path, std::vector<uint8_t> &bytes) {
  file.read(reinterpret_cast<char *>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (file.gcount() == 0) return false;
  if (static_cast<size_t>(file.gcount()) != bytes.size())
    throw std::runtime_error(path + " ends within a frame");
  return true;
}

void print(const Session &session, const FrameScores &scores) {
  std::printf("frame %llu", static_cast<unsigned long long>(scores.index));
  for (size_t i = 0; i < scores.dist[0].models.size(); ++i)
    std::printf(" %s %.17g", session.models()[i].label.c_str(), scores.dist[0].models[i]);
  for (size_t i = 0; i < scores.dist[0].features.size(); ++i)
    std::printf(" %s %.17g", session.feature_names()[i].c_str(), scores.dist[0].features[i]);
  std::printf("\n");
}

void print(const std::string &name, const RunningPool &pool) {
  std::printf("pooled %s mean %.17g min %.17g max %.17g harmonic-mean %.17g\n", name.c_str(),
              pool.get(PoolMethod::mean), pool.get(PoolMethod::min), pool.get(PoolMethod::max),
              pool.get(PoolMethod::harmonic_mean));
}

void run(const Arguments &arguments) {
  auto created = Session::create(arguments.session);
  must(created.status());
  Session &session = **created;
  const PictureFormat format = test::picture_format(arguments.format);
  must(session.configure(format, format));

  std::ifstream ref = open(arguments.files[0]), dist = open(arguments.files[1]);
  std::vector<uint8_t> ref_bytes(arguments.format.frame_bytes()), dist_bytes(arguments.format.frame_bytes());
  FrameScores scores;
  for (;;) {
    const bool has_ref = read_frame(ref, arguments.files[0], ref_bytes);
    const bool has_dist = read_frame(dist, arguments.files[1], dist_bytes);
    if (has_ref != has_dist) throw std::runtime_error("one file has more frames than the other");
    if (!has_ref) break;
    while (!session.submit(test::to_picture(arguments.format, ref_bytes),
                           test::to_picture(arguments.format, dist_bytes))) {
      if (session.wait(scores) != Session::Next::ready) {
        must(session.status());
        throw std::runtime_error("the session is stuck");
      }
      print(session, scores);
    }
  }
  session.finish();
  while (session.wait(scores) == Session::Next::ready) print(session, scores);
  must(session.status());
  for (size_t i = 0; i < session.models().size(); ++i)
    print(session.models()[i].label, session.model_pools()[i]);
  for (size_t i = 0; i < session.feature_names().size(); ++i)
    print(session.feature_names()[i], session.feature_pools()[i]);
  for (size_t i = 0; i < session.aggregate_names().size(); ++i)
    std::printf("%s %.17g\n", session.aggregate_names()[i].c_str(), session.aggregates()[i]);
}

}  // namespace

int main(int argc, char **argv) {
  try {
    run(parse(argc, argv));
    return 0;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "score_yuv: %s\n", error.what());
    return 1;
  }
}
