// The lanes of the instruction set that the including file is compiled for. VMAFHIP_LANES says whether there are any;
// without, a metric takes its plain loops.
#pragma once

#if defined(__AVX512BW__)
#define VMAFHIP_LANES 1
#include "engine/cpu/lanes_avx512.h"
#elif defined(__AVX2__)
#define VMAFHIP_LANES 1
#include "engine/cpu/lanes_avx2.h"
#else
#define VMAFHIP_LANES 0
#endif
