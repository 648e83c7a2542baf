#include "examples/monitor/elements.h"

namespace monitor {

std::vector<ElementPtr> elements_in(GstBin *bin) {
  std::vector<ElementPtr> elements;
  const auto keep = [](const GValue *item, gpointer elements) {
    static_cast<std::vector<ElementPtr> *>(elements)->emplace_back(
        GST_ELEMENT(gst_object_ref(g_value_get_object(item))));
  };
  GstIterator *all = gst_bin_iterate_recurse(bin);
  while (gst_iterator_foreach(all, keep, &elements) == GST_ITERATOR_RESYNC) {
    gst_iterator_resync(all);
    elements.clear();
  }
  gst_iterator_free(all);
  return elements;
}

std::string set_property(GstElement *element, const std::string &name, const std::string &text,
                         bool only_try) {
  GParamSpec *spec = g_object_class_find_property(G_OBJECT_GET_CLASS(element), name.c_str());
  const std::string owner = G_OBJECT_TYPE_NAME(element);
  if (!spec || !(spec->flags & G_PARAM_WRITABLE))
    return owner + " has no property \"" + name + "\" that can be set";
  GValue value = G_VALUE_INIT;
  g_value_init(&value, spec->value_type);
  const bool fits = gst_value_deserialize_with_pspec(&value, text.c_str(), spec);
  if (fits && !only_try) g_object_set_property(G_OBJECT(element), name.c_str(), &value);
  g_value_unset(&value);
  return fits ? "" : "\"" + text + "\" is no value of the property \"" + name + "\" of " + owner;
}

}  // namespace monitor
