// Measures content synchronisation on the cases of generate.py.
//
//   judge sign WIDTH HEIGHT RATE FILE    signatures of 8-bit luma planes on standard input
//   judge run FOLDER [--window S] [--only NAME_PART] [--errors] [--states] [--bar | --held-out-bar]
//   judge cross FOLDER [--window S]      every reference against every distorted stream of another source: none may lock
//
// `run` prints a line a case and a table. exact: the very frame that is shown; near: or one beside it; false: half a second
// of pairs over three frames off, or any pair of streams that must be refused. --errors adds the runs of wrong pairs,
// --states what was said when. With a bar the exit status is 1 below it.
#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "gst/vmafhip/content/content_sync.h"
#include "tests/content/case.h"

using namespace vmafhip::content;
using namespace vmafhip::content::test;
using Clock = std::chrono::steady_clock;

namespace {

struct Options {
  double window = 5;  // as the element has it
  std::string only;
  bool errors = false, states = false, bar = false, held_out_bar = false;
};

struct Run {
  std::map<int, Match> matches;  // by distorted frame, those with a partner
  double first_lock = -1;        // s since the first frame
  int locks = 0, losses = 0;
  double seconds = 0;  // of processor time
  size_t bytes = 0;
  double unknowable = -1;  // when that was first said
  double confidence = 0;
};

Run run(const Case &c, const Options &options) {
  Run result;
  ContentSync sync(options.window);
  State state = State::searching;
  std::vector<Match> matches;
  size_t i = 0, j = 0;
  const double begin = std::min(c.ref_times.front(), c.dist_times.front());
  double now = 0;
  const auto look = [&] {
    sync.take(matches);
    for (const Match &m : matches)
      if (m.ref >= 0) {
        result.matches[int(m.dist)] = m;
        result.confidence += m.confidence;
      }
    matches.clear();
    if (sync.state() == state) return;
    if (state == State::locked) ++result.losses;
    state = sync.state();
    if (state == State::locked) ++result.locks;
    if (state == State::locked && result.first_lock < 0) result.first_lock = now - begin;
    if (state == State::unknowable && result.unknowable < 0) result.unknowable = now - begin;
    if (options.states)
      std::printf("    %6.2f s: %s offset %+.4f confidence %.2f correlation %.3f second %.3f reason %d\n",
                  now,
                  state == State::locked       ? "locked"
                  : state == State::unknowable ? "unknowable"
                                               : "searching",
                  sync.offset(), sync.confidence(), sync.last().correlation, sync.last().second,
                  int(sync.last().reason));
  };
  const auto start = Clock::now();
  while (i < c.ref.size() || j < c.dist.size()) {
    if (j >= c.dist.size() || (i < c.ref.size() && c.ref_times[i] <= c.dist_times[j])) {
      now = c.ref_times[i];
      sync.push_ref(int64_t(i), now, c.ref[i]);
      ++i;
    } else {
      now = c.dist_times[j];
      sync.push_dist(int64_t(j), now, c.dist[j]);
      ++j;
    }
    look();
    result.bytes = std::max(result.bytes, sync.bytes());
  }
  sync.end_ref();
  sync.end_dist();
  look();
  result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return result;
}

struct Sum {
  int cases = 0, locked = 0, wrong = 0, unknowable = 0;
  long pairs = 0, right = 0, near = 0, possible = 0;  // frames
  std::vector<double> times;
  double median_time() const { return times.empty() ? 0 : times[times.size() / 2]; }
  double share(long part) const { return pairs > 0 ? 100. * double(part) / double(pairs) : 0; }
};

// Whether the offset can be found in the pictures, and within the window.
bool lockable(const Case &c, const Options &options) {
  if (!c.same || c.has("still") || c.reach > options.window + 1e-6) return false;
  const double period = c.period / c.ref_rate;
  return period == 0 || period - std::abs(c.offset) > options.window;  // a twin of the offset is not within
}

void print_errors(const Case &c, const Run &r) {
  int from = -1, last = -1;
  double lowest = 0, highest = 0;
  const auto flush = [&] {
    if (from >= 0)
      std::printf("    wrong %4d..%4d (%.2f..%.2f s) by %+.2f..%+.2f\n", from, last,
                  c.dist_times[size_t(from)], c.dist_times[size_t(last)], lowest, highest);
    from = -1;
  };
  for (const auto &[j, m] : r.matches) {
    if (c.right(j, int(m.ref))) continue;
    const double off = double(m.ref) - c.shown[size_t(j)];
    if (from >= 0 && j > last + 4) flush();
    if (from < 0) {
      from = j;
      lowest = highest = off;
    }
    last = j;
    lowest = std::min(lowest, off);
    highest = std::max(highest, off);
  }
  flush();
}

int run_all(const std::filesystem::path &folder, const Options &options) {
  std::vector<std::filesystem::path> folders;
  for (const auto &entry : std::filesystem::directory_iterator(folder))
    if (std::filesystem::exists(entry.path() / "dist.sig") &&
        entry.path().filename().string().find(options.only) != std::string::npos)
      folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end());
  std::map<std::string, Sum> sums;
  double seconds = 0;
  long frames = 0;
  size_t bytes = 0;
  struct Bin {
    long pairs = 0, right = 0, near = 0;
  };
  std::map<int, Bin> confidences;
  for (const auto &path : folders) {
    const Case c = read_case(path);
    if (options.states) std::printf("  %s (offset %+.3f)\n", c.name.c_str(), c.offset);
    const Run r = run(c, options);
    const bool lock = lockable(c, options);
    long right = 0, near = 0, possible = 0;
    int far = 0;
    bool wrong = false;
    for (const auto &[j, m] : r.matches) {
      const bool is_right = c.right(j, int(m.ref)), is_near = c.within(j, int(m.ref), 1);
      right += is_right;
      near += is_near;
      Bin &bin = confidences[int(m.confidence * 10)];
      ++bin.pairs;
      bin.right += is_right;
      bin.near += is_near;
      // A false lock: half a second of pairs wrong by over three frames.
      far = c.within(j, int(m.ref), 3) ? 0 : far + 1;
      if (far > c.dist_rate / 2) wrong = true;
    }
    if (!lock && c.period == 0 && !r.matches.empty()) wrong = true;
    for (double k : c.shown) possible += k >= 0;
    const std::string kind(1, c.name[0]);
    for (const std::string &key : {kind, std::string(lock ? "all to lock" : "all to refuse"),
                                   std::string(lock && c.has("constant") ? "constant" : "")}) {
      if (key.empty()) continue;
      Sum &sum = sums[key];
      ++sum.cases;
      sum.locked += r.locks > 0;
      sum.wrong += wrong;
      sum.unknowable += r.unknowable >= 0;
      sum.pairs += long(r.matches.size());
      sum.right += right;
      sum.near += near;
      sum.possible += possible;
      if (r.first_lock >= 0) sum.times.push_back(r.first_lock);
    }
    seconds += r.seconds;
    frames += long(c.ref.size() + c.dist.size());
    bytes = std::max(bytes, r.bytes);
    const double pairs = std::max(1., double(r.matches.size()));
    std::printf(
        "%-38s %s lock %6.2f s n %d/%d unknowable %5.2f pairs %4zu/%4ld right %5.1f near %5.1f conf %.2f%s\n",
        c.name.c_str(), lock ? "lock  " : "refuse", r.first_lock, r.locks, r.losses, r.unknowable,
        r.matches.size(), possible, 100. * double(right) / pairs, 100. * double(near) / pairs,
        r.confidence / pairs,
        wrong                  ? "  FALSE"
        : lock && r.locks == 0 ? "  MISSED"
                               : "");
    if (options.errors) print_errors(c, r);
  }
  for (auto &[key, sum] : sums) {
    std::sort(sum.times.begin(), sum.times.end());
    std::printf(
        "%-14s cases %3d locked %3d false %d unknowable %3d right %6.2f near %6.2f %% of %6ld pairs, %5.1f "
        "%% paired, "
        "lock median %.2f max %.2f s\n",
        key.c_str(), sum.cases, sum.locked, sum.wrong, sum.unknowable, sum.share(sum.right),
        sum.share(sum.near), sum.pairs, 100. * double(sum.pairs) / double(std::max(1L, sum.possible)),
        sum.times.empty() ? 0 : sum.times[sum.times.size() / 2], sum.times.empty() ? 0 : sum.times.back());
  }
  for (const auto &[tenth, bin] : confidences)
    std::printf("confidence %.1f: %6ld pairs, right %5.1f, near %5.1f %%\n", tenth / 10., bin.pairs,
                100. * double(bin.right) / double(bin.pairs), 100. * double(bin.near) / double(bin.pairs));
  std::printf("%.1f us a frame without the signature, at most %.2f MB\n",
              1e6 * seconds / double(std::max(1L, frames)), double(bytes) / 1e6);
  if (!options.bar && !options.held_out_bar) return 0;
  const Sum &lock = sums["all to lock"], &refuse = sums["all to refuse"], &constant = sums["constant"];
  bool good = true;
  const auto expect = [&good](bool met, const char *what, double is) {
    std::printf("%s %s: %.2f\n", met ? "met:   " : "NOT MET", what, is);
    good &= met;
  };
  expect(constant.share(constant.right) >= 99.5, "constant offset, exact >= 99.5 %",
         constant.share(constant.right));
  if (options.bar) {
    expect(lock.cases + refuse.cases == 134, "134 cases", lock.cases + refuse.cases);
    expect(lock.share(lock.right) >= 97.5, "exact >= 97.5 %", lock.share(lock.right));
    expect(lock.median_time() <= 2, "locked after 2 s in the median", lock.median_time());
  } else {  // more of them are hard: rates and levels at random, few that stay as they are
    expect(lock.cases == 48, "48 cases", lock.cases);
    expect(lock.share(lock.right) >= 96.5, "exact >= 96.5 %", lock.share(lock.right));
  }
  expect(lock.share(lock.near) >= 99.5, "within a frame >= 99.5 %", lock.share(lock.near));
  expect(lock.locked == lock.cases, "all locked", lock.locked);
  expect(lock.wrong + refuse.wrong == 0, "no false lock", lock.wrong + refuse.wrong);
  expect(bytes < size_t(16) << 20, "less than 16 MB", double(bytes) / 1e6);
  return good ? 0 : 1;
}

// The source of a case's pictures, where it is a single one.
std::string family(const std::string &name) {
  if (name.rfind("Z-pan", 0) == 0) return name.find("-real_1080p_ref") != name.npos ? "" : "photograph";
  for (const char *several : {"mix", "ad4s", "black", "fade"})
    if (name.find(several) != name.npos) return "";
  if (name[0] == 'N' || name[0] == 'Q') return "";
  for (const char *source : {"city", "cockatoo", "rocket", "vtest", "screen", "slides", "real"})
    if (name.find(source) != name.npos) return source;
  const auto pan = name.find("pan");
  return pan != name.npos && pan + 3 < name.size() && std::isdigit(name[pan + 3]) ? name.substr(pan, 4) : "";
}

int run_cross(const std::filesystem::path &folder, const Options &options) {
  std::vector<std::pair<std::string, Case>> streams;
  for (const auto &entry : std::filesystem::directory_iterator(folder))
    if (const std::string source = family(entry.path().filename().string()); !source.empty())
      streams.push_back({source, read_case(entry.path())});
  long tried = 0, locked = 0, pairs = 0;
  double seconds = 0;
  for (const auto &[source, ref] : streams)
    for (const auto &[other, dist] : streams) {
      if (source == other) continue;
      Case c = ref;
      c.dist_times = dist.dist_times;
      c.dist = dist.dist;
      c.dist_rate = dist.dist_rate;
      c.shown.assign(c.dist.size(), -1);
      const Run r = run(c, options);
      ++tried;
      seconds += std::min(c.ref_times.back(), c.dist_times.back());
      pairs += long(r.matches.size());
      if (r.locks > 0) {
        ++locked;
        std::printf("locked: %s with %s after %.2f s, %zu pairs\n", ref.name.c_str(), dist.name.c_str(),
                    r.first_lock, r.matches.size());
      }
    }
  std::printf("%ld pairs of unlike streams, %.1f h: %ld locked, %ld pairs\n", tried, seconds / 3600, locked,
              pairs);
  return pairs == 0 ? 0 : 1;
}

int sign(int width, int height, double rate, const char *file) {
  std::FILE *out = std::fopen(file, "wb");
  if (!out) return 2;
  std::vector<uint8_t> plane(size_t(width) * size_t(height));
  Signer signer;
  Signature signature;
  for (int n = 0; std::fread(plane.data(), 1, plane.size(), stdin) == plane.size(); ++n) {
    signer.sign({plane.data(), width, width, height, 8, 0}, n / rate, signature);
    if (!signature.bars) signature.active = signature.full;
    const float bars = signature.bars;
    std::fwrite(signature.full.data(), sizeof(float), kGrid, out);
    std::fwrite(signature.active.data(), sizeof(float), kGrid, out);
    std::fwrite(&bars, sizeof(float), 1, out);
  }
  return std::fclose(out) == 0 ? 0 : 2;
}

}  // namespace

int main(int argc, char **argv) {
  const std::string what = argc > 2 ? argv[1] : "";
  if (what == "sign" && argc == 6)
    return sign(std::atoi(argv[2]), std::atoi(argv[3]), std::atof(argv[4]), argv[5]);
  Options options;
  bool understood = what == "run" || what == "cross";
  for (int i = 3; i < argc; ++i) {
    const std::string option = argv[i];
    const bool has_value = i + 1 < argc;
    if (option == "--window" && has_value)
      options.window = std::atof(argv[++i]);
    else if (option == "--only" && has_value)
      options.only = argv[++i];
    else if (option == "--errors")
      options.errors = true;
    else if (option == "--states")
      options.states = true;
    else if (option == "--bar")
      options.bar = true;
    else if (option == "--held-out-bar")
      options.held_out_bar = true;
    else
      understood = false;
  }
  if (!understood) {
    std::fprintf(stderr,
                 "usage: judge sign WIDTH HEIGHT RATE FILE | run FOLDER [OPTION...] | cross FOLDER\n");
    return 2;
  }
  return what == "run" ? run_all(argv[2], options) : run_cross(argv[2], options);
}
