// A picture as what content synchronisation remembers of it: the mean luma of 32x18 blocks, of the whole picture and,
// where it has black bars, of what lies between them. Pure C++; reads the plane in place.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace vmafhip::content {

constexpr int kGridWidth = 32, kGridHeight = 18, kGrid = kGridWidth * kGridHeight;

// One luma plane. A sample is a byte at depth 8, else a native-endian 16-bit word whose value is word >> shift.
struct Luma {
  const void *data = nullptr;
  ptrdiff_t stride = 0;  // bytes from row to row; may be negative
  int width = 0, height = 0;
  int depth = 8;  // 8 to 16
  int shift = 0;  // 6 for P010, 4 for P012, else 0
};

// Block means in 8-bit code values, row by row.
struct Signature {
  std::array<float, kGrid> full;
  std::array<float, kGrid> active;  // between the bars; set only with bars
  bool bars = false;
};

// Makes the signatures of one stream. Bars must be seen for a while before they count: dark scenes have edges that
// look like bars.
class Signer {
 public:
  // `seconds`: the frame's time, on any clock that runs with the stream.
  void sign(const Luma &luma, double seconds, Signature &signature);

  struct Area {
    int x = 0, y = 0, width = 0, height = 0;
    bool operator==(const Area &) const = default;
  };
  Area active() const { return active_; }

 private:
  template <class T>
  void find_bars(const Luma &luma, double seconds);
  void follow(const Area &seen, double seconds);
  bool alike(const Area &a, const Area &b) const;
  struct Blocks;
  template <class T>
  void measure(const Luma &luma, Signature &signature);

  Area frame_, active_;
  Area candidate_;  // seen instead of active_ for the last `agreed_` frames
  int agreed_ = 0;
  double candidate_since_ = 0;
  std::array<int, 4> creep_ = {};  // for how many frames each edge was seen to one side, and to which
  bool decided_ = false;
  std::vector<uint16_t> full_sums_, active_sums_;  // of each column of a row of blocks
  std::vector<uint16_t> lowest_, highest_;         // of each column
};

}  // namespace vmafhip::content
