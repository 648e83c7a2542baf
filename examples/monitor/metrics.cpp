#include "examples/monitor/metrics.h"
