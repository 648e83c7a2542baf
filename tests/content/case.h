// A case of content synchronisation as files: signatures of both streams, time stamps, and which reference frame each
// distorted frame truly shows. generate.py makes them; the format of truth.txt is described there.
#pragma once
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "gst/vmafhip/content/signature.h"

namespace vmafhip::content::test {

// A signature in a file: full, active, whether there are bars.
constexpr size_t kRow = 2 * kGrid + 1;

struct Case {
  std::string name;
  double offset = 0;  // s to add to distorted times; where it is constant
  double reach = 0;   // s: the largest offset that occurs
  bool same = false;  // the distorted stream shows the reference
  int period = 0;     // frames after which the reference repeats itself; 0: never
  std::set<std::string> tags;
  double ref_rate = 25, dist_rate = 25;
  std::vector<double> ref_times, dist_times;
  std::vector<double> shown;  // reference frame of each distorted one, fractional where blended; -1: none
  std::vector<int> first_like,
      last_like;  // of each reference frame: the run of frames that nobody can tell apart
  std::vector<Signature> ref, dist;

  bool has(const std::string &tag) const { return tags.count(tag) > 0; }
  int frames() const { return int(ref_times.size()); }

  bool right(int dist, int ref) const {
    const double k = shown[size_t(dist)];
    if (k < 0) return false;
    const int below = int(std::floor(k + 1e-3)), above = std::min(frames() - 1, int(std::ceil(k - 1e-3)));
    const int from = first_like[size_t(below)], to = last_like[size_t(above)];
    if (below != above)  // blended: the nearer one
      return std::abs(ref - k) <= 0.51 || (ref >= from && ref <= to);
    return (period > 0 && (ref - below) % period == 0) || (ref >= from && ref <= to);
  }
  bool within(int dist, int ref, int frames_off) const {
    for (int off = -frames_off; off <= frames_off; ++off)
      if (ref + off >= 0 && ref + off < frames() && right(dist, ref + off)) return true;
    return false;
  }
};

inline std::vector<Signature> read_signatures(const std::filesystem::path &file, size_t count) {
  std::ifstream in(file, std::ios::binary);
  std::vector<float> row(kRow);
  std::vector<Signature> signatures(count);
  for (Signature &signature : signatures) {
    if (!in.read(reinterpret_cast<char *>(row.data()), std::streamsize(kRow * sizeof(float))))
      throw std::runtime_error(file.string() + " is too short");
    std::copy_n(row.begin(), kGrid, signature.full.begin());
    std::copy_n(row.begin() + kGrid, kGrid, signature.active.begin());
    signature.bars = row.back() > 0;
  }
  return signatures;
}

inline Case read_case(const std::filesystem::path &folder) {
  Case c;
  c.name = folder.filename().string();
  std::ifstream in(folder / "truth.txt");
  std::string tags, tag;
  size_t ref_frames = 0, dist_frames = 0;
  in >> c.same >> tags >> c.period >> c.ref_rate >> c.dist_rate >> c.offset >> c.reach >> ref_frames >>
      dist_frames;
  std::istringstream list(tags);
  while (std::getline(list, tag, ',')) c.tags.insert(tag);
  c.ref_times.resize(ref_frames);
  c.first_like.resize(ref_frames);
  c.last_like.resize(ref_frames);
  for (size_t i = 0; i < ref_frames; ++i) in >> c.ref_times[i] >> c.first_like[i] >> c.last_like[i];
  c.dist_times.resize(dist_frames);
  c.shown.resize(dist_frames);
  for (size_t j = 0; j < dist_frames; ++j) in >> c.dist_times[j] >> c.shown[j];
  if (!in) throw std::runtime_error((folder / "truth.txt").string() + " cannot be read");
  c.ref = read_signatures(folder / "ref.sig", ref_frames);
  c.dist = read_signatures(folder / "dist.sig", dist_frames);
  return c;
}

}  // namespace vmafhip::content::test
