"""What a test expects that goes on when something is otherwise: all that failed is told at its end."""
import sys

failures = []


def expect(condition, what):
    if not condition:
        failures.append(what)


def finish():
    for failure in failures:
        print(failure)
    sys.exit(1 if failures else 0)
