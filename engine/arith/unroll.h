// For loops of definitions that index arrays of registers: compilers of all sides are told to unroll them, each in its
// own words.
#pragma once

#define VMAFHIP_PRAGMA(text) _Pragma(#text)
#if defined(__CUDACC__) || defined(__clang__)
#define VMAFHIP_UNROLL(times) VMAFHIP_PRAGMA(unroll times)
#else
#define VMAFHIP_UNROLL(times) VMAFHIP_PRAGMA(GCC unroll times)
#endif
