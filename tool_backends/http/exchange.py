"""How one call goes: attempts, waits, redirects and limits, as a generator that does no input or output itself.

It asks for a request to be sent or for a pause, and is told what came of it. A driver that blocks and one that awaits
run the same generator (``callgym.tool_backends.http.connections``), so neither can behave otherwise than the other::

    work = exchange(request, read, limits=limits, deadline=time.monotonic() + limits.timeout_s)
    step = next(work)  # Send(request)
    step = work.send(Failure("unreachable"))  # Wait(0.3): it will be tried again
"""

from __future__ import annotations

import email.utils
import re
import time
from collections.abc import Callable
from dataclasses import replace

from callgym.call import ToolResult
from callgym.chat_server import import_httpx
from callgym.tool_backends.http.limits import HttpLimits, RateLimit
from callgym.tool_backends.http.message import Exchange, Failure, Reader, Reply, Request, Send, Wait

__all__ = ["RETRIED", "exchange"]

RETRIED = frozenset((408, 425, 429, 502, 503, 504))
"""Status codes after which another attempt may go better."""
_REDIRECTS = frozenset((301, 302, 303, 307, 308))
_BODY_HEADERS = (b"content-type", b"content-length")
_MAX_BACKOFF_S = 30.0


def exchange(
    request: Request,
    read: Reader,
    *,
    limits: HttpLimits,
    deadline: float,
    rate: RateLimit | None = None,
    jitter: Callable[[], float] = lambda: 0.5,
    clock: Callable[[], float] = time.monotonic,
) -> Exchange:
    """Make one call.

    Args:
        request: What is sent first.
        read: What the last response means, whatever its status.
        limits: How many attempts and redirects there may be.
        deadline: When the call must be over, in seconds of ``clock``; the driver sees to it while it sends.
        rate: Shared by the calls that share a limit.
        jitter: A number from 0 to 1 for each pause.
        clock: Seconds, never going back.
    """
    attempts = redirects = 0
    fresh = False
    while True:
        if rate is not None:
            pause = rate.reserve(clock(), deadline)
            if pause is None:
                return _unavailable("too many calls are being made at the moment; try again later")
            if pause > 0:
                yield Wait(pause)
        outcome = yield Send(request, fresh)
        # A server closes a connection when it likes. Who meets the closing door was hardly heard, but may have been.
        fresh = isinstance(outcome, Failure) and outcome.reused and request.idempotent
        if fresh:
            continue
        if isinstance(outcome, Reply) and outcome.status in _REDIRECTS:
            redirects += 1
            followed = _follow(request, outcome)
            if followed is None or redirects > limits.max_redirects:
                return _unavailable("its server sends the call on to another place, which is not followed")
            request = followed
            continue
        attempts += 1
        backoff = limits.backoff_s * 2 ** min(attempts - 1, 30) * (0.5 + jitter())
        pause = _pause(request, outcome, min(backoff, _MAX_BACKOFF_S))
        if pause is None or attempts >= limits.attempts or clock() + pause >= deadline:
            return read(outcome) if isinstance(outcome, Reply) else _failed(outcome, limits)
        yield Wait(pause)


def _pause(request: Request, outcome: Reply | Failure | None, backoff: float) -> float | None:
    """Seconds to wait before another attempt; None where there is no sense in one."""
    if isinstance(outcome, Failure):
        again = outcome.kind == "unreachable" or (outcome.kind == "lost" and request.idempotent)
        return backoff if again else None
    if not isinstance(outcome, Reply) or outcome.status not in RETRIED or not request.idempotent:
        return None
    return max(backoff, _retry_after(outcome))


def _retry_after(reply: Reply) -> float:
    """Seconds that the server asks to wait, given in seconds or as a date beside its own clock; 0 for none."""
    given = reply.headers.get("retry-after", "").strip()
    if re.fullmatch(r"[0-9]{1,9}", given):
        return float(given)
    try:
        until = email.utils.parsedate_to_datetime(given)
        now = email.utils.parsedate_to_datetime(reply.headers.get("date", ""))
        return max(0.0, until.timestamp() - now.timestamp())
    except (ValueError, OverflowError):
        return 0.0


def _follow(request: Request, reply: Reply) -> Request | None:
    """The request that a redirect asks for; None where it leads to another host or scheme, or nowhere."""
    httpx = import_httpx()
    scheme, host, port = request.origin
    name = b"[" + host + b"]" if b":" in host else host
    here = b"%s://%s:%d%s" % (scheme, name, port, request.target)
    try:
        url = httpx.URL(here.decode("ascii")).join(reply.headers["location"])
    except (KeyError, ValueError, httpx.InvalidURL):  # none, or one that cannot be read
        return None
    default = {b"http": 80, b"https": 443}.get(url.raw_scheme)
    if (url.raw_scheme, url.raw_host, url.port or default) != request.origin or url.userinfo:
        return None
    request = replace(request, target=bytes(url.raw_path))
    becomes_get = reply.status == 303 or (reply.status in (301, 302) and request.method == "POST")
    if not becomes_get or request.method in ("GET", "HEAD"):
        return request
    headers = tuple(header for header in request.headers if header[0].lower() not in _BODY_HEADERS)
    return replace(request, method="GET", headers=headers, body=b"", idempotent=True)


def _failed(outcome: Failure | None, limits: HttpLimits) -> ToolResult:
    if outcome is None or outcome.kind == "timeout":
        message = f"no answer came within {limits.timeout_s:g} s; try again later, or ask for less"
        return ToolResult(error="timeout", message=message)
    if outcome.kind == "unreachable":
        return _unavailable("its server cannot be reached; try again later, or do without it")
    return _unavailable(
        "the connection broke before the answer was complete; whether the call took effect is not known"
    )


def _unavailable(message: str) -> ToolResult:
    return ToolResult(error="unavailable", message=f"the tool is unavailable: {message}")
