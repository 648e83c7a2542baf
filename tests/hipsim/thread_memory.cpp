#include "tests/hipsim/thread_memory.h"

#include <link.h>

#include <algorithm>
#include <cstring>

#include "tests/hipsim/memory.h"
#include "tests/hipsim/simt.h"

namespace hipsim {
namespace {

constexpr size_t kLine = 64;

struct Segment {
  char *begin = nullptr;
  size_t bytes = 0;
};

// The loader's view of the thread-local segment of the module that `address` is in.
int find_segment(dl_phdr_info *info, size_t, void *out) {
  bool ours = false;
  size_t bytes = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) &segment = info->dlpi_phdr[i];
    const uintptr_t begin = info->dlpi_addr + segment.p_vaddr,
                    here = reinterpret_cast<uintptr_t>(&find_segment);
    if (segment.p_type == PT_LOAD && here >= begin && here < begin + segment.p_memsz) ours = true;
    if (segment.p_type == PT_TLS) bytes = segment.p_memsz;
  }
  if (!ours) return 0;
  *static_cast<Segment *>(out) = {static_cast<char *>(info->dlpi_tls_data), bytes};
  return 1;
}

}  // namespace

std::vector<Span> unite(std::vector<Span> a, std::vector<Span> b) {
  a.insert(a.end(), b.begin(), b.end());
  std::sort(a.begin(), a.end());
  std::vector<Span> united;
  for (const Span &span : a)
    if (!united.empty() && span.first <= united.back().second)
      united.back().second = std::max(united.back().second, span.second);
    else
      united.push_back(span);
  return united;
}

ThreadMemory::ThreadMemory() {
  range_cache = {};  // touched, so that this thread has its copy of the segment
  Segment segment;
  dl_iterate_phdr(find_segment, &segment);
  begin_ = segment.begin;
  bytes_ = segment.begin ? segment.bytes : 0;
}

void ThreadMemory::fill_all() const { fill({{0, bytes_}}); }

void ThreadMemory::fill(const std::vector<Span> &spans) const {
  Lane *const saved_lane = lane;
  const RangeCache saved_cache = range_cache;
  for (const Span &span : spans) fill_with_garbage(begin_ + span.first, span.second - span.first);
  lane = saved_lane;
  range_cache = saved_cache;
}

std::vector<Span> ThreadMemory::changed() const {
  std::vector<Span> spans;
  for (size_t at = 0; at < bytes_; at += kLine) {
    const size_t end = std::min(at + kLine, bytes_);
    bool same = true;
    for (size_t i = at; i + 8 <= end && same; i += 8) same = std::memcmp(begin_ + i, &kGarbage, 8) == 0;
    if (same) continue;
    if (!spans.empty() && spans.back().second == at)
      spans.back().second = end;
    else
      spans.push_back({at, end});
  }
  return spans;
}

size_t ThreadMemory::changed_bytes() const {
  const size_t own = sizeof lane + sizeof range_cache;
  size_t bytes = 0;
  for (size_t i = 0; i + 8 <= bytes_; i += 8) bytes += std::memcmp(begin_ + i, &kGarbage, 8) != 0 ? 8 : 0;
  return bytes > own ? bytes - own : 0;
}

}  // namespace hipsim
