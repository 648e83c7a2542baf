// Filling GstStructures: numbers that are not finite are left out, structures nest.
#pragma once
#include <gst/gst.h>

#include <cmath>
#include <vector>

#include "gst/vmafhip/handles.h"

namespace vmafhip {

inline void set_double(GstStructure *s, GQuark field, double value) {
  if (!std::isfinite(value)) return;
  GValue v = G_VALUE_INIT;
  g_value_init(&v, G_TYPE_DOUBLE);
  g_value_set_double(&v, value);
  gst_structure_id_take_value(s, field, &v);
}

inline void set_double(GstStructure *s, const char *field, double value) {
  set_double(s, g_quark_from_string(field), value);
}

inline void take_structure(GstStructure *s, GQuark field, GstStructure *inner) {
  GValue v = G_VALUE_INIT;
  g_value_init(&v, GST_TYPE_STRUCTURE);
  g_value_take_boxed(&v, inner);
  gst_structure_id_take_value(s, field, &v);
}

inline void take_structure(GstStructure *s, const char *field, GstStructure *inner) {
  take_structure(s, g_quark_from_string(field), inner);
}

// A structure of numbers.
inline GstStructure *values(const char *name, const std::vector<GQuark> &fields,
                            const std::vector<double> &numbers) {
  GstStructure *s = gst_structure_new_empty(name);
  for (size_t i = 0; i < fields.size(); ++i) set_double(s, fields[i], numbers[i]);
  return s;
}

}  // namespace vmafhip
