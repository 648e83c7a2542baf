// What the system says of this process: memory, and what its threads do with their time.
#pragma once
#include <cstdint>

namespace vmafhip::bench {

// KiB. The most since the process began, or since forget_peak_rss(), which also gives back what is free.
uint64_t peak_rss_kib();
void forget_peak_rss();

// Seconds that all threads but the calling one, since they began, ran or could have run if there had been a processor for
// them: how busy workers are does not depend on who else uses the machine. 0 if the system does not tell.
double others_busy_seconds();

}  // namespace vmafhip::bench
