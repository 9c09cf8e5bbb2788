"""The real agents, pinned and from npm, driven against model servers of our own on loopback.

`programs` says which and where, `install` gets them, `server` with a dialect is the model, and
there is a driver for each agent:

    with ModelServer(dialect=DRIVERS[program.agent].dialect) as model:
        driver = driver_for(program, home, project, model)
        driver.prepare()
        model.script.turns["a prompt"] = [Step(text="an answer")]
        result = driver.run_turn("a prompt", resume=None)
        lost = missing(result.requests[0].before("a prompt"), ["what", "was", "said", "before"])
"""

from real_agents.conversation import Call, Entry, Hold, Step, missing
from real_agents.driver import Driver, Result, Turn
from real_agents.drivers import DRIVERS, driver_for
from real_agents.programs import PROGRAMS, Program
from real_agents.server import ModelServer, Request

__all__ = [
    "DRIVERS",
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
