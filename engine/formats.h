// Which formats can be compared with each other, and what is said of those that cannot.
#pragma once
#include <span>
#include <string>

#include "engine/picture.h"
#include "engine/scaler.h"
#include "engine/status.h"

namespace vmafhip {

std::string describe(const PictureFormat &format);  // "1920x1080 at 8 bits"
bool same_size(const PictureFormat &a, const PictureFormat &b);
bool on_device(const PictureFormat &format);

// Within limits that keep all sizes in 64 bits, and alike where they have to be. `chroma`: it is compared, too.
Status check_formats(const PictureFormat &ref, std::span<const PictureFormat> dist, bool chroma,
                     ScaleMethod method);
// For pictures that only a GPU reads, compared as `compared` says.
Status check_on_device(const PictureFormat &compared, const PictureFormat &format);

}  // namespace vmafhip
