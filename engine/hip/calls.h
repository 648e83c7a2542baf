// Calls of the runtime, checked: what fails is thrown, or given up where nothing may be thrown.
#pragma once
#include <cstdint>
#include <string>

#include "engine/hip/device.h"

namespace vmafhip::hip {

[[noreturn]] void fail(const Api &api, int error, const std::string &call, const char *file, int line);

// Calls a function of the runtime; a failure is thrown with the call as it is written here.
#define CALL(api, function, ...)                                                \
  do {                                                                          \
    if (const int error = (api).function(__VA_ARGS__); error != 0) [[unlikely]] \
      fail(api, error, #function "(" #__VA_ARGS__ ")", __FILE__, __LINE__);     \
  } while (false)

inline void *pointer(uint64_t address) { return reinterpret_cast<void *>(address); }

// For destructors: what fails is given up, and nothing is touched in a forked child, whose parent owns it all.
// Moved-from objects come here with null and may have outlived their device. Whether it was done.
bool give_back(const Device *device, int (*Functions::*function)(void *), void *handle) noexcept;

}  // namespace vmafhip::hip
