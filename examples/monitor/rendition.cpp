#include "examples/monitor/rendition.h"
