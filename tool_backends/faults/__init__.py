"""Faults: tools that are slow, fail, lie or change, by a seed, so that robustness can be trained and measured::

    env = gym.make("apibank/L1-v0", protocol="dialogue", faults=["errors:0.2", "latency"])
    backend = faulty(PythonBackend(functions), {"name": "outage", "rate": 0.1, "tools": ["Search"]})

``specs`` lists them, ``fault`` says what one is, ``session`` is where they are at work. The first of several is the
nearest to the tools: each disturbs what those before it left. The same seed gives the same faults, whatever ran
before; a call that is made again is another call, and may succeed. To the policy a fault looks like any other answer
of a service; what was injected is on record in ``Episode.faults``.
"""

from callgym.tool_backends.faults.fault import Fault
from callgym.tool_backends.faults.session import FaultyBackend, FaultySession, faulty
from callgym.tool_backends.faults.specs import FAULTS, get_fault, get_faults, spec_of

__all__ = ["FAULTS", "Fault", "FaultyBackend", "FaultySession", "faulty", "get_fault", "get_faults", "spec_of"]
