#include "examples/monitor/changes.h"

#include "examples/monitor/elements.h"

namespace monitor {

std::string Changes::prepare(GstBin *encoder, GstElement *teller, const std::vector<Change> &changes) {
  teller_ = teller;
  for (const Change &change : changes) {
    const size_t dot = change.property.find('.');
    Planned planned{change, nullptr,
                    dot == std::string::npos ? change.property : change.property.substr(dot + 1)};
    for (ElementPtr &element : elements_in(encoder)) {
      const bool meant =
          dot == std::string::npos || change.property.substr(0, dot) == GST_OBJECT_NAME(element.get());
      if (planned.element || !meant ||
          !g_object_class_find_property(G_OBJECT_GET_CLASS(element.get()), planned.property.c_str()))
        continue;
      planned.element = std::move(element);
    }
    if (!planned.element) return "no element of the encoder has a property " + change.property;
    if (std::string e = set_property(planned.element.get(), planned.property, change.value, true); !e.empty())
      return e;
    planned_.push_back(std::move(planned));
  }
  return {};
}

void Changes::frame(const GstBuffer *buffer) {
  const GstClockTime time = GST_BUFFER_PTS(buffer);
  if (!GST_CLOCK_TIME_IS_VALID(time)) return;
  if (!GST_CLOCK_TIME_IS_VALID(first_)) first_ = time;
  while (made_ < planned_.size() && time >= first_ &&
         double(time - first_) / GST_SECOND >= planned_[made_].change.seconds) {
    const Planned &now = planned_[made_++];
    set_property(now.element.get(), now.property, now.change.value);
    gst_element_post_message(
        teller_, gst_message_new_application(
                     GST_OBJECT(teller_),
                     gst_structure_new("change", "property", G_TYPE_STRING, now.change.property.c_str(),
                                       "value", G_TYPE_STRING, now.change.value.c_str(), nullptr)));
  }
}

}  // namespace monitor
