"""Python programs as a tool: a policy computes by writing code, and the code runs where it can do no harm::

    box = PythonSandbox()
    session = box.open(task, seed=0)  # task.tools holds box.tools
    session.call(ToolCall(name="python", arguments={"code": "x = 6\\nprint('six')\\nx * 7"}))
    # content={"stdout": "six\\n", "result": 42}
    session.call(ToolCall(name="python", arguments={"code": "x / 0"}))
    # error="tool_error", message="ZeroDivisionError: division by zero (line 1: x / 0)."

**What comes back.** ``{"stdout": text, "result": value}``. ``stdout`` is what the program printed, on stderr too.
``result`` is the value of its last line where that is an expression: a JSON value as it is (tuples as lists), any
other as its ``repr``, cut where it is long. A program that raises is a ``tool_error`` with the exception, the line and
the end of what it printed; one that takes too long is a ``timeout``; one that meets another limit is a ``tool_error``
that names the limit. After an overrun, too much memory or a crash the variables are lost, and the message says so.

**Two engines.** ``process``: CPython with its standard library, in a process that is started ahead of time, shut in,
used by one session and killed. It needs Linux 5.13 with Landlock and seccomp on x86_64 or aarch64; whether it holds is
found out by trying. ``interpreter``: Monty (``pip install 'callgym[sandbox]'``), an interpreter of a part of Python in
Rust. ``auto`` takes the first where it holds, else the second; ``describe()`` says which. There is no less confined
way to fall back to.

**What shuts a program in** (``process``). Landlock: it reads Python's library, the system's shared libraries and its
own folder, writes in its own folder, and removes nothing. seccomp: system calls by an allow-list; no processes, no
threads, no sockets, no signals, no change of owner or mode. Limits on memory, processor time, file size and open
files, and a look into its folder twenty times a second; the clock is kept by the parent, which kills. No capabilities,
no new rights, no environment, no input, core dumps or terminal. Where the kernel grants them, user, network and IPC
namespaces of its own besides. RLIMIT_NPROC says nothing to root: seccomp says it for everybody.

**Same seed, same results.** ``random`` is seeded by the session's seed, texts hash alike in every worker, addresses
(``at 0x...``) and this machine's paths are replaced in what comes back. The clock is real in ``process`` and stands at
2000-01-01 in ``interpreter``. As they are: ``id()``, ``os.urandom``, the order of a set of objects that hash by
address, and whether a program makes it in time.

**What this does not protect against.** Faults of the kernel or the processor: whoever breaks out of the kernel is
out (for strangers' programs use a virtual machine around it all). Side channels: a program can time things, and learns
the kernel's version, the host's name, and of a path it guesses whether it is there, how large and how old. What lies
in the folders it may read, such as packages installed beside Python's library. Contention: ``workers`` programs use
as many processors, ``workers`` times ``memory`` bytes and more (idle sessions keep theirs), and write ``disk`` bytes
over and over. Lies about itself: a program can forge its own session's answers, as it could print them; it cannot
forge another's. Being killed: where this process is ended by SIGKILL its workers end with it, but their folders (at
most ``disk`` bytes each, ``callgym-sandbox-*``) stay. Above all, what you do with its answers is yours to check.
"""

from callgym.tool_backends.sandbox.backend import PythonSandbox
from callgym.tool_backends.sandbox.session import SandboxSession

__all__ = ["PythonSandbox", "SandboxSession"]
