"""The system calls that a sandboxed program may make, as a filter that the kernel runs before each one.

An allow-list: what is not named fails with EPERM, so that no process or thread is started, no socket opened, nobody
signalled, no file removed, and a system call that is invented tomorrow is refused, too::

    program = filter_for(pid, machine="x86_64")  # bytes: instructions for prctl(PR_SET_SECCOMP)

Files are opened freely here; which ones is Landlock's business (``child.py``).
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["MACHINES", "filter_for"]

# x86_64, aarch64; None where the machine has no such call. From Linux's asm/unistd_64.h and asm-generic/unistd.h.
_FREE: dict[str, tuple[int, int | None]] = {
    # The frequent ones first: the list is gone through from the top.
    "read": (0, 63), "write": (1, 64), "mmap": (9, 222), "munmap": (11, 215), "brk": (12, 214), "close": (3, 57),
    "fstat": (5, 80), "newfstatat": (262, 79), "lseek": (8, 62), "mprotect": (10, 226), "mremap": (25, 216),
    "madvise": (28, 233), "futex": (202, 98), "getdents64": (217, 61), "clock_gettime": (228, 113),
    # Files: nothing that creates a folder, a link or a device, removes, renames, or changes owner, mode or times.
    "stat": (4, None), "lstat": (6, None), "statx": (332, 291), "access": (21, None), "faccessat": (269, 48),
    "faccessat2": (439, 439), "getcwd": (79, 17), "chdir": (80, 49), "fchdir": (81, 50), "pread64": (17, 67),
    "pwrite64": (18, 68), "readv": (19, 65), "writev": (20, 66), "preadv": (295, 69), "pwritev": (296, 70),
    "ftruncate": (77, 46), "fsync": (74, 82), "fdatasync": (75, 83), "flock": (73, 32), "umask": (95, 166),
    "sendfile": (40, 71), "copy_file_range": (326, 285),
    # Pipes and waiting, for asyncio.
    "dup": (32, 23), "dup2": (33, None), "dup3": (292, 24), "pipe": (22, None), "pipe2": (293, 59),
    "select": (23, None), "pselect6": (270, 72), "poll": (7, None), "ppoll": (271, 73), "epoll_create": (213, None),
    "epoll_create1": (291, 20), "epoll_ctl": (233, 21), "epoll_wait": (232, None), "epoll_pwait": (281, 22),
    "eventfd2": (290, 19), "nanosleep": (35, 101), "clock_nanosleep": (230, 115),
    # What a process asks about itself.
    "clock_getres": (229, 114), "gettimeofday": (96, 169), "time": (201, None), "times": (100, 153),
    "getrusage": (98, 165), "getrlimit": (97, 163), "sysinfo": (99, 179), "uname": (63, 160), "getpid": (39, 172),
    "getppid": (110, 173), "gettid": (186, 178), "getuid": (102, 174), "geteuid": (107, 175), "getgid": (104, 176),
    "getegid": (108, 177), "getgroups": (115, 158), "getpgrp": (111, None), "getpgid": (121, 155), "getsid": (124, 156),
    "getresuid": (118, 148), "getresgid": (120, 150), "sched_yield": (24, 124), "sched_getaffinity": (204, 123),
    "getrandom": (318, 278),
    "rt_sigaction": (13, 134), "rt_sigprocmask": (14, 135), "rt_sigreturn": (15, 139), "sigaltstack": (131, 132),
    "set_robust_list": (273, 99), "rseq": (334, 293), "restart_syscall": (219, 128), "exit": (60, 93),
    "exit_group": (231, 94),
}  # fmt: skip

# Allowed with certain arguments only.
_CHECKED: dict[str, tuple[int, int]] = {
    "openat": (257, 56), "ioctl": (16, 29), "fcntl": (72, 25), "kill": (62, 129), "tgkill": (234, 131),
    "prlimit64": (302, 261), "socketpair": (53, 199), "sendto": (44, 206), "recvfrom": (45, 207),
}  # fmt: skip

MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
"""``platform.machine()`` to its column above and its AUDIT_ARCH value."""

_NUMBER, _MACHINE, _ARGUMENTS = 0, 4, 16  # where struct seccomp_data has them
_LOAD, _EQUAL, _ANY_BIT, _RETURN = 0x20, 0x15, 0x45, 0x06  # BPF: ld word, jeq, jset, ret
_ALLOW, _FAIL_EPERM, _KILL_PROCESS = 0x7FFF0000, 0x00050001, 0x80000000

# Linux's numbers, not this machine's: the filter is the same text wherever it is made.
_ACCESS_MODE, _EMPTY_FILE, _UNNAMED_FILE = 0o3, 0o1000, 0o20000000  # O_ACCMODE, O_TRUNC, what is new in O_TMPFILE
_IOCTLS = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)  # TCGETS TIOCGWINSZ FIONREAD FIONBIO FIONCLEX FIOCLEX
_FCNTLS = (0, 1, 2, 3, 4, 5, 6, 7, 1030)  # F_DUPFD F_GETFD F_SETFD F_GETFL F_SETFL F_GETLK F_SETLK F_SETLKW, CLOEXEC
_UNIX_SOCKETS = 1


@dataclass(frozen=True, slots=True)
class _OneOf:
    """The argument is one of these numbers."""

    argument: int
    values: Sequence[int]


@dataclass(frozen=True, slots=True)
class _NoneOf:
    """None of these bits of the argument are set."""

    argument: int
    bits: int


@dataclass(frozen=True, slots=True)
class _SomeOf:
    """At least one of these bits of the argument is set."""

    argument: int
    bits: int


_Check = _OneOf | _NoneOf | _SomeOf
_Instruction = tuple[int, int, int, int]  # code, steps to skip if true, if false, operand


def filter_for(pid: int, machine: str) -> bytes:
    """The filter for the process ``pid``, as an array of ``struct sock_filter``.

    Args:
        pid: The process that will run under it, and the only one it may send signals to.
        machine: A key of ``MACHINES``.
    """
    column, audit = MACHINES[machine]
    program: list[_Instruction] = [
        (_LOAD, 0, 0, _MACHINE),
        (_EQUAL, 1, 0, audit),
        (_RETURN, 0, 0, _KILL_PROCESS),  # a call by another machine's table (32 bits) has other numbers
        (_LOAD, 0, 0, _NUMBER),
    ]
    for numbers in _FREE.values():
        number = numbers[column]
        if number is not None:
            program += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ALLOW)]
    for name, checks in _rules(pid):
        program += _rule(_CHECKED[name][column], checks)
    program.append((_RETURN, 0, 0, _FAIL_EPERM))
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in program)


def _rules(pid: int) -> list[tuple[str, list[_Check]]]:
    """A call is allowed where all checks of one of its rules hold."""
    return [
        # Before Linux 6.2 Landlock lets a file that may only be read be emptied as it is opened. A file without a
        # name would be counted by nobody.
        ("openat", [_NoneOf(2, _EMPTY_FILE | _UNNAMED_FILE)]),
        ("openat", [_NoneOf(2, _UNNAMED_FILE), _SomeOf(2, _ACCESS_MODE)]),
        ("ioctl", [_OneOf(1, _IOCTLS)]),
        ("fcntl", [_OneOf(1, _FCNTLS)]),  # not F_SETOWN, which has signals sent to others
        ("kill", [_OneOf(0, [pid])]),
        ("tgkill", [_OneOf(0, [pid])]),
        ("prlimit64", [_OneOf(2, [0])]),  # asks, sets nothing
        ("socketpair", [_OneOf(0, [_UNIX_SOCKETS])]),  # two ends of one's own: what asyncio wakes itself with
        ("sendto", [_OneOf(3, [0]), _OneOf(4, [0])]),  # to no address but the other end
        ("recvfrom", [_OneOf(3, [0])]),
    ]


def _rule(number: int, checks: Sequence[_Check]) -> list[_Instruction]:
    """Allow the call where all checks hold; else go on behind the rule."""
    body: list[_Instruction] = []
    for check in reversed(checks):  # from the end, where it is known how far there is to skip
        body = _check(check, behind=len(body) + 1) + body
    body.append((_RETURN, 0, 0, _ALLOW))
    return [(_LOAD, 0, 0, _NUMBER), (_EQUAL, 0, len(body), number), *body]


def _check(check: _Check, behind: int) -> list[_Instruction]:
    """Go on where the check holds, else skip the ``behind`` instructions that follow it."""
    low = _ARGUMENTS + 8 * check.argument  # both machines are little-endian
    if isinstance(check, _NoneOf):
        return [(_LOAD, 0, 0, low), (_ANY_BIT, behind, 0, check.bits)]
    if isinstance(check, _SomeOf):
        return [(_LOAD, 0, 0, low), (_ANY_BIT, 0, behind, check.bits)]
    count = len(check.values)
    tests = [
        (_EQUAL, count - 1 - index, behind if index == count - 1 else 0, value)
        for index, value in enumerate(check.values)
    ]
    return [(_LOAD, 0, 0, low + 4), (_EQUAL, 0, 1 + count + behind, 0), (_LOAD, 0, 0, low), *tests]
