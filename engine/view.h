// From pictures as they come to planes as metrics read them.
#pragma once
#include <cstddef>

#include "engine/metric.h"
#include "engine/picture.h"

namespace vmafhip {

// Whether the plane can be read where it is when frames are compared at `depth` bits.
bool readable_in_place(const Picture &picture, int plane, int depth);

// Bytes of the buffer view_plane() needs for this plane if it cannot be read in place.
size_t unpacked_bytes(const Plane &plane, int depth);

// The plane at `depth` bits (>= the picture's): in place where possible, else unpacked into `buffer`: words
// shifted down, interleaved samples gathered, shallower samples shifted up.
PlaneView view_plane(const Picture &picture, int plane, int depth, std::byte *buffer);

}  // namespace vmafhip
