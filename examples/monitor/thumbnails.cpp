#include "examples/monitor/thumbnails.h"
