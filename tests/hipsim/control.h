// What tests may ask of the simulated runtime beyond HIP's functions. They find these with dlsym() in the library that
// VMAFHIP_HIP_LIBRARY names.
#pragma once
#include <cstdint>

extern "C" {
// What went between host and device since the library was loaded. A copy of several rows is one copy.
struct hipsim_traffic {
  uint64_t uploads, upload_bytes, downloads, download_bytes;
  uint64_t waits;    // of the host, for events and streams
  uint64_t batches;  // of uploads that went by one call
};
hipsim_traffic hipsim_get_traffic(void);

// Objects of others (hipImportExternalMemory) since then.
struct hipsim_imports {
  uint64_t imported, destroyed, refused;
};
hipsim_imports hipsim_get_imports(void);

// "warp=64 schedule=reverse streams=eager threads=2 devices=0 memory=64M fail=malloc:3,lost:20 leaks=fatal"; settings.h
// has them all. `fail` takes the place of what was to fail, and counts anew. False: not understood, nothing was changed.
bool hipsim_configure(const char *settings);
// What the checks found so far; the last text, until the next call.
unsigned hipsim_reports(void);
const char *hipsim_last_report(void);
// How many objects and allocations are alive.
unsigned hipsim_leaks(void);
// The device works again, reports are counted anew, nothing is to fail.
void hipsim_reset(void);
}
