// From pictures as they come to planes as metrics read them.
#pragma once
#include <cstddef>

#include "engine/metric.h"
#include "engine/picture.h"

namespace vmafhip {

struct PlaneSize {
  int width = 0, height = 0;
};
// Samples of a plane; chroma of odd sizes is rounded up.
PlaneSize plane_size(const PictureFormat &format, int plane);

// Whether the plane can be read where it is when frames are compared at `depth` bits.
bool readable_in_place(const Picture &picture, int plane, int depth);

// The same of kernels, of a plane in device memory.
bool readable_on_device(const PlaneView &plane, int depth);

// Bytes of the buffer view_plane() needs for this plane if it cannot be read in place.
size_t unpacked_bytes(const Plane &plane, int depth);

// A plane in a buffer of its own, rows one after the other.
PlaneView packed_view(const std::byte *buffer, PlaneSize size, int depth);

// The plane at `depth` bits (>= the picture's): in place where possible, else as unpack_rows() puts it into `buffer`.
PlaneView planned_view(const Picture &picture, int plane, int depth, std::byte *buffer);

// Rows from `first` on, before `last` (or the plane's end): words shifted down, interleaved samples gathered,
// shallower samples shifted up; planes that are readable in place are copied. Rows of different calls may be unpacked at the same time.
void unpack_rows(const Picture &picture, int plane, int depth, std::byte *buffer, int first, int last);

// The same for a buffer that a device reads, and this processor does not: the caches keep what they have. Such rows go
// half as fast again where many threads copy at a time.
void unpack_rows_for_device(const Picture &picture, int plane, int depth, std::byte *buffer, int first,
                            int last);

// planned_view(), with everything unpacked that needs to be.
PlaneView view_plane(const Picture &picture, int plane, int depth, std::byte *buffer);

}  // namespace vmafhip
