// By which way pictures in dma-bufs or a GPU's memory were read.
#pragma once
#include <glib.h>

namespace vmafhip {

struct ReadCounts {
  // Pictures.
  guint64 imported = 0;    // the GPU read them where they are
  guint64 registered = 0;  // the GPU copied them from there by itself
  guint64 mapped = 0;      // the processor read them where they are
  guint64 copied = 0;      // a copy in host memory was made first
  // Kernel objects, each once: by how the GPU gets at them, or mapped if it does not.
  guint64 objects_imported = 0, objects_registered = 0, objects_mapped = 0;
};

}  // namespace vmafhip
