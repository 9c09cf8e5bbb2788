"""The real agents, pinned and from npm, driven against model servers of our own on loopback.

`programs` says which and where, `install` gets them, `servers` holds the model servers, and there
is a driver for each agent: `driver_for(program)`.
"""

from real_agents.conversation import Call, Entry, Hold, Step, missing
from real_agents.driver import Driver, Result, Turn
from real_agents.drivers import driver_for
from real_agents.programs import PROGRAMS, Program
from real_agents.server import ModelServer, Request

__all__ = [
    "PROGRAMS",
    "Call",
    "Driver",
    "Entry",
    "Hold",
    "ModelServer",
    "Program",
    "Request",
    "Result",
    "Step",
    "Turn",
    "driver_for",
    "missing",
]
