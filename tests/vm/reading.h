// How pictures were read, and by what, as the element says.
#pragma once
#include <ostream>
#include <string>

#include "tests/pipeline.h"

namespace vmafhip::test {

struct Reading {
  guint64 imported = 0, registered = 0, mapped = 0, copied = 0, held_copied = 0;
  guint64 objects_imported = 0, objects_registered = 0, objects_mapped = 0;
  bool operator==(const Reading &) const = default;
};

inline void PrintTo(const Reading &r, std::ostream *out) {
  *out << "imported " << r.imported << ", registered " << r.registered << ", mapped " << r.mapped
       << ", copied " << r.copied << ", held-copied " << r.held_copied << "; objects imported "
       << r.objects_imported << ", registered " << r.objects_registered << ", mapped " << r.objects_mapped;
}

inline Reading reading(Pipeline &pipeline) {
  const auto of = [v = pipeline.get("v")](const char *name) { return stats_number(v, name); };
  return {
      of("imported"),         of("registered"),         of("mapped"),        of("copied"), of("held-copied"),
      of("objects-imported"), of("objects-registered"), of("objects-mapped")};
}

// What has measured.
inline std::string backend(Pipeline &pipeline) {
  GstStructure *stats = nullptr;
  g_object_get(pipeline.get("v"), "stats", &stats, nullptr);
  const char *text = gst_structure_get_string(stats, "backend");
  const std::string backend = text ? text : "";
  gst_structure_free(stats);
  return backend;
}

}  // namespace vmafhip::test
