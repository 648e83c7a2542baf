// vmafhip-monitor: see --help.
#include "examples/monitor/report.h"
#include "examples/monitor/server.h"
#include "examples/monitor/settings.h"

int main() { return 2; }
