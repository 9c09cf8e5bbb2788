"""A home with a running daemon and a real program in it, and questions to its store."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from blackbox import Home
from real_agents import Driver

WAIT_SECONDS = 60
"""For a loaded machine. How long it takes on an idle one is measured elsewhere."""

NOTE = "the note says heliotrope"
"""What `note.txt` in the project says, and nobody else."""

Messages = list[dict[str, Any]]


@dataclass(kw_only=True)
class Stage:
    """The daemon runs; the program's turns are the test's to start."""

    home: Home
    driver: Driver
    waits: dict[str, float] = field(default_factory=dict)
    """Seconds from the model's being asked to what was said before being in the store."""

    def session(self) -> dict[str, Any] | None:
        """The one session in which something was said; sub-agents aside.

        Gemini CLI 0.61 leaves a second file, its shadow, with nothing but its own context.
        """
        listed = self.home.json("sessions", "--agent", self.driver.program.agent)
        found = [session for session in listed if session["title"]]
        assert len(found) <= 1, found
        return found[0] if found else None

    def messages(self) -> Messages:
        session = self.session()
        if session is None:
            return []
        shown = self.home.json("show", session["id"])["messages"]
        return [message for message in shown if message["kind"] != "meta"]

    def wait_for(self, what: str, true: Callable[[Messages], bool]) -> None:
        began = time.monotonic()
        while not true(messages := self.messages()):
            taken = time.monotonic() - began
            assert taken < WAIT_SECONDS, f"{what}: not stored in {taken:.0f} s: {brief(messages)}"
            time.sleep(0.4)
        self.waits[what] = round(time.monotonic() - began, 2)

    def wait_for_answer(self, text: str) -> None:
        self.wait_for(text, lambda found: bool(count(found, "assistant", text)))


def count(found: Messages, kind: str, text: str) -> int:
    return sum(holds(message, kind, text) for message in found)


def holds(message: dict[str, Any], kind: str, text: str) -> bool:
    if message["kind"] != kind:
        return False
    tool = message.get("tool") or {}
    return text in f"{message['text']}\n{tool.get('input')}\n{tool.get('output')}"


def outputs(found: Messages) -> str:
    return "\n".join(str(m["tool"]["output"]) for m in found if m["kind"] == "tool_result")


def brief(found: Messages) -> str:
    lines = (f"{m['kind']}: {m['text'][:90]!r} {str(m.get('tool'))[:160]}" for m in found)
    return "\n" + "\n".join(lines)
