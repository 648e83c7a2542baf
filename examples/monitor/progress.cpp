#include "examples/monitor/progress.h"
