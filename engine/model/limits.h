// What a model file may hold at most. Far above any real model (0.4 MB, 262 support vectors), low enough that a
// damaged or hostile file costs neither memory nor time, and that no prediction overflows.
#pragma once
#include <cstddef>

namespace vmafhip {

inline constexpr size_t kMaxFileBytes = size_t{64} << 20;
inline constexpr int kMaxNesting = 16;              // objects and arrays inside each other; real files: 5
inline constexpr size_t kMaxValues = 100'000;       // JSON values; real files: 50 a model
inline constexpr int kMaxFeatures = 64;             // libvmaf's limit
inline constexpr size_t kMaxMembers = 1000;         // of a bootstrap collection; real files: 20
inline constexpr size_t kMaxKnots = 10;             // libvmaf's limit
inline constexpr long kMaxSupportVectors = 65'536;  // times 64 features: 32 MiB
inline constexpr double kLargestNumber = 1e30;

}  // namespace vmafhip
