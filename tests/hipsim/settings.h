// How the simulated runtime behaves: the environment's HIPSIM_* variables, which hipsim_configure() overrides, and which
// calls fail.
//
//   HIPSIM_WARP      32 (default) or 64 threads a warp
//   HIPSIM_SCHEDULE  forward (default) or reverse: which thread, warp and block is first
//   HIPSIM_STREAMS   lazy (default): work is done as late as can be, when somebody waits for it; what is copied from
//                    pinned memory is read then, and nothing but an event's wait makes another stream's work come first
//                    eager: work is done when it is put on a stream
//   HIPSIM_THREADS   of the system that run blocks; 1
//   HIPSIM_DEVICES   1
//   HIPSIM_MEMORY    of a device, with a suffix K, M or G; 2G
//   HIPSIM_EXTERNAL  what objects of others may be imported (hipImportExternalMemory), and by whose rules:
//                    amdgpu (default): those of AMD's driver, of which there are none here; so all are refused
//                    any: all that can be mapped; the descriptor stays the caller's
//                    nvidia: the same, and a successful import takes the descriptor
//   HIPSIM_BATCH     whether many copies go by one call: yes (default), no, or half: half of them are made before it is told
//                    that it is not supported
//   HIPSIM_FAIL      kind:n,kind:n+,... the nth call of a kind fails, with + all later ones too. Kinds: malloc, host
//                    (pinned memory), copy (and clearing), launch, sync (waiting for an event or stream), module, stream,
//                    event, import, map (of what is imported); lost:n: all calls from the nth call of any kind on, as if the device had gone
//   HIPSIM_LEAKS     fatal: a process that leaves something unreleased, or did what the checks found, ends with status 23
#pragma once
#include <cstddef>
#include <string_view>

namespace hipsim {

struct Settings {
  unsigned warp_size = 32, threads = 1;
  int devices = 1;
  enum class External { amdgpu, any, nvidia } external = External::amdgpu;
  enum class Batch { yes, no, half } batch = Batch::yes;
  bool reverse = false, eager = false, leaks_fatal = false;
  size_t memory = size_t{2} << 30;
};

const Settings &settings();
// "warp=64 schedule=reverse ..."; names as above in small letters. False: not understood, nothing is changed.
bool configure(std::string_view text);

enum class Call { malloc, host, copy, launch, sync, module, stream, event, import, map, other };
// Counts this call; the error that it is to fail with, or 0.
int injected_failure(Call call);

}  // namespace hipsim
