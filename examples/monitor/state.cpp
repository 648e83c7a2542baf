#include "examples/monitor/state.h"
