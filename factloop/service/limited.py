"""Runs a module with low priority and limited time and memory. It ends even if the service that started it is killed.

python -m factloop.service.limited SECONDS MODULE ARGUMENTS
"""

from __future__ import annotations

import os
import runpy
import signal
import sys
from contextlib import suppress

MOST_MEMORY = 2_000_000_000  # in bytes of address space
OUT_OF_MEMORY = 70  # exit code


def _limit(seconds: int) -> None:
    if sys.platform == "win32":
        return
    import resource

    os.nice(10)  # jobs and requests come first
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # numpy reserves address space per processor
    signal.signal(signal.SIGALRM, lambda *_: sys.exit("this took too long"))
    signal.alarm(seconds)
    # The alarm cannot interrupt C code, so CPU time is limited as well.
    for which, most in ((resource.RLIMIT_CPU, seconds + 5), (resource.RLIMIT_AS, MOST_MEMORY)):
        with suppress(ValueError, OSError):  # there is already a lower limit, or the system supports none (macOS)
            resource.setrlimit(which, (most, most))


if __name__ == "__main__":
    _limit(int(sys.argv[1]))
    sys.argv[:] = sys.argv[2:]
    try:
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    except MemoryError:
        sys.exit(OUT_OF_MEMORY)
