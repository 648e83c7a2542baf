// A video frame as the engine sees it: planes somewhere in memory, read in place, never written.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace vmafhip {

enum class Chroma : uint8_t { c400, c420, c422, c444 };

// Columns and rows of luma that share one of chroma, as powers of 2.
constexpr int chroma_shift_x(Chroma chroma) {
  return chroma == Chroma::c420 || chroma == Chroma::c422 ? 1 : 0;
}
constexpr int chroma_shift_y(Chroma chroma) { return chroma == Chroma::c420 ? 1 : 0; }

// How samples become light, as far as a metric asks (cambi): a display of SDR, or PQ (SMPTE ST 2084).
enum class Transfer : uint8_t { sdr, pq };

// How samples can be reached.
enum class MemoryKind : uint8_t {
  host,    // by the processor
  pinned,  // by the processor, and by the GPU, which may copy from there at any time until the owner is let go
  device,  // addresses of the GPU that the session works on, which nobody else reads; all writing is done
};

struct PictureFormat {
  int width = 0, height = 0;  // luma samples
  int depth = 8;              // significant bits a sample, 8 to 16
  Chroma chroma = Chroma::c420;
  Transfer transfer = Transfer::sdr;
  // Of the format in which pictures are compared: bits of the shallowest distorted picture, before its samples were
  // shifted up to `depth`. 0: `depth`.
  int coded_depth = 0;
  // A session that is configured for `host` takes `pinned` too, from picture to picture. In `device` memory, planes that
  // are read have step 1 and shift 0, and are of the size and depth at which pictures are compared.
  MemoryKind memory = MemoryKind::host;
  bool operator==(const PictureFormat &) const = default;
};

// One plane of samples. A sample is a byte at depth 8, else a native-endian 16-bit word.
struct Plane {
  const void *data = nullptr;
  ptrdiff_t stride = 0;       // bytes from row to row; may be negative
  int width = 0, height = 0;  // samples
  int step = 1;               // samples from one to the next in a row: 2 for interleaved chroma
  // Where the GPU that the session works on reads the same rows itself, at the same stride, in a session for `host`
  // memory; 0: nowhere. All writing is done. With it `data` may be null if no processor has to read the plane
  // (Session::host_planes); frames of such pictures are lost with a GPU that fails.
  uint64_t device = 0;
};

struct Picture {
  PictureFormat format;
  // Unused low bits of a word: the sample is word >> shift (6 for P010, 4 for P012, else 0).
  int shift = 0;
  // Y, U, V. Only luma is set for Chroma::c400.
  std::array<Plane, 3> planes;
  // Keeps the memory alive; released as soon as nothing reads the picture any more.
  std::shared_ptr<const void> owner;
};

}  // namespace vmafhip
