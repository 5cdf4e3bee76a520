"""Becomes another program, one that the kernel ends with whoever started it. For Linux; nothing is imported from here.

Started as ``python -I -S leash.py PARENT COMMAND ARGS``. A server that reads its standard input ends with its client
anyway; one that does not would outlive a client that was killed.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Put the leash on, then become the command."""
    parent, command = int(sys.argv[1]), sys.argv[2:]
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it was gone before the leash was on
        sys.exit(1)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        sys.stderr.write(f"{command[0]}: {error.strerror}\n")
        sys.exit(127)


if __name__ == "__main__":
    main()
