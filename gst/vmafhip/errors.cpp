#include "gst/vmafhip/errors.h"

namespace vmafhip {

void post_error(GstElement *element, const Status &status) {
  const char *text = status.message().c_str();
  switch (status.code()) {
    case Code::not_found:
      GST_ELEMENT_ERROR(element, RESOURCE, NOT_FOUND, ("%s", text), (nullptr));
      break;
    case Code::unsupported:
      GST_ELEMENT_ERROR(element, STREAM, FORMAT, ("%s", text), (nullptr));
      break;
    case Code::io:
      GST_ELEMENT_ERROR(element, RESOURCE, READ, ("%s", text), (nullptr));
      break;
    case Code::resource:
      GST_ELEMENT_ERROR(element, RESOURCE, NO_SPACE_LEFT, ("%s", text), (nullptr));
      break;
    default:
      GST_ELEMENT_ERROR(element, LIBRARY, SETTINGS, ("%s", text), (nullptr));
      break;
  }
}

}  // namespace vmafhip
