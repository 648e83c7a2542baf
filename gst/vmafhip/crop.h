// Cutting a part out of a picture: planes begin further in and are smaller, no sample is copied.
#pragma once
#include "engine/picture.h"

namespace vmafhip {

// Luma samples that are taken off each edge; none is negative.
struct Crop {
  int left = 0, right = 0, top = 0, bottom = 0;
  bool operator==(const Crop &) const = default;
};

// A part of a picture in luma samples, from its top left one.
struct Rect {
  int x = 0, y = 0, width = 0, height = 0;
  bool operator==(const Rect &) const = default;
};

// What `crop` leaves of `rect`. Nothing left: width or height is 0.
Rect inside(const Rect &rect, const Crop &crop);

// Makes the picture, whose planes must be set as for the whole frame, the part of it; `part` lies within the frame.
// Luma is exact. Subsampled chroma begins at x/2 and y/2, rounded down, and has as many samples as a picture of the
// part's size, rounded up: at odd x or y it lies one luma sample to the left or above. It never leaves the frame.
void cut(Picture &picture, const Rect &part);

}  // namespace vmafhip
