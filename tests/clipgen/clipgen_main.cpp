// Writes a clip as raw planar YUV.
//
//   clipgen --clip natural-blur --role dis --width 576 --height 324
//           --frames 8 --depth 8 --chroma 420 --out dis.yuv
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "tests/clipgen/clipgen.h"

namespace {

using namespace vmafhip::clipgen;

int parse_int(const std::string &option, const std::string &text, int low, int high) {
  char *end = nullptr;
  const long value = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end || value < low || value > high)
    throw std::invalid_argument(option + " must be an integer from " + std::to_string(low) + " to " +
                                std::to_string(high));
  return static_cast<int>(value);
}

void run(int argc, char **argv) {
  Format format;
  std::string clip = "natural-blur", role = "ref", path;
  int seed = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--list") {
      for (const Clip &entry : clips()) std::printf("%-20s %s\n", entry.name.c_str(), entry.purpose.c_str());
      return;
    }
    if (i + 1 >= argc) throw std::invalid_argument("option '" + option + "' is unknown or lacks a value");
    const std::string value = argv[++i];
    if (option == "--clip") {
      clip = value;
    } else if (option == "--role") {
      role = value;
    } else if (option == "--out") {
      path = value;
    } else if (option == "--width") {
      format.width = parse_int(option, value, 1, 16384);
    } else if (option == "--height") {
      format.height = parse_int(option, value, 1, 16384);
    } else if (option == "--frames") {
      format.frames = parse_int(option, value, 1, 100000);
    } else if (option == "--depth") {
      format.depth = parse_int(option, value, 8, 16);
    } else if (option == "--seed") {
      seed = parse_int(option, value, 0, 1000000);
    } else if (option == "--chroma") {
      format.set_chroma(value);
    } else {
      throw std::invalid_argument("unknown option '" + option + "'");
    }
  }
  if (role != "ref" && role != "dis") throw std::invalid_argument("--role must be ref or dis");

  const Generator generator(clip, format, static_cast<uint32_t>(seed));
  std::FILE *out = path.empty() ? stdout : std::fopen(path.c_str(), "wb");
  if (!out) throw std::runtime_error("cannot open " + path);
  for (int frame = 0; frame < format.frames; ++frame) {
    const std::vector<uint8_t> bytes =
        generator.frame(role == "ref" ? Role::reference : Role::distorted, frame);
    if (std::fwrite(bytes.data(), 1, bytes.size(), out) != bytes.size())
      throw std::runtime_error("write failed");
  }
  if (std::fclose(out) != 0) throw std::runtime_error("write failed");
}

}  // namespace

int main(int argc, char **argv) {
  try {
    run(argc, argv);
    return 0;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "clipgen: %s\n", error.what());
    return 2;
  }
}
