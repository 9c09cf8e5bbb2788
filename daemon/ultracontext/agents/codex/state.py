"""What a reader remembers between records: little, and the same for a session of any length."""

from __future__ import annotations

from typing import Any

from ultracontext.agents.codex.line import Dict, Line
from ultracontext.agents.codex.session import Session
from ultracontext.agents.codex.tools import Run, call_text, failed, output_text
from ultracontext.agents.codex.twins import Twins
from ultracontext.model import Message, Tool


class State:
    """Facts, texts that wait for their twins, and calls by id."""

    __slots__ = ("_event_first", "_known", "session", "twins")

    def __init__(self, session_id: str) -> None:
        self.session = Session(session_id)
        self.twins = Twins()
        self._known: set[str] = set()
        """Ids of calls that were met, as item or as event."""
        self._event_first: dict[str, tuple[str, str]] = {}
        """Call id → ids of the messages of call and result, where the event came first."""

    def call(
        self, line: Line, event_type: str, name: str, call_id: str, given: Any, **metadata: Any
    ) -> list[Message]:
        """A call that the model made."""
        self.twins.pause()
        tool = Tool(name=name, call_id=call_id, input=given)
        text = call_text(name, given)
        if call_id:
            first = self._event_first.get(call_id)
            if first is not None and first[0]:
                self._event_first[call_id] = ("", first[1])
                return [line.twin(first[0], event_type, text, tool)]
            self._known.add(call_id)
        return [line.message("tool_call", event_type, text, tool, metadata)]

    def result(
        self, line: Line, event_type: str, call_id: str, output: Any, name: str = ""
    ) -> list[Message]:
        """An output that the model was given."""
        self.twins.pause()
        tool = Tool(name=name, call_id=call_id, output=output, is_error=failed(output))
        text = output_text(output)
        first = self._event_first.get(call_id) if call_id else None
        if first is not None and first[1]:
            self._event_first[call_id] = (first[0], "")
            return [line.twin(first[1], event_type, text, tool)]
        return [line.message("tool_result", event_type, text, tool)]

    def ran(self, line: Line, event_type: str, run: Run) -> list[Message]:
        """A run as the screen tells it; one that the model did not call is a script's.

        In code mode (0.171) the calls inside an `exec` script stand here only (recording
        code-mode-exec-tool)."""
        self.twins.pause()
        output = run.output
        if run.call_id and run.call_id in self._known:
            tool = Tool(name=run.name, call_id=run.call_id, output=output, is_error=run.error)
            return [line.twin(f"call:{run.call_id}", event_type, "", tool, **run.extra)]
        extra: Dict = {"nested": True, **run.extra} if "source" not in run.extra else run.extra
        call = Tool(name=run.name, call_id=run.call_id, input=run.given)
        call_id = line.next_id()
        messages = [
            line.message("tool_call", event_type, call_text(run.name, run.given), call, extra)
        ]
        result_id = ""
        if output is not None:
            result_id = line.next_id()
            tool = Tool(name=run.name, call_id=run.call_id, output=output, is_error=run.error)
            messages.append(
                line.message("tool_result", event_type, output_text(output), tool, {"nested": True})
            )
        if run.call_id:
            self._known.add(run.call_id)
            self._event_first[run.call_id] = (call_id, result_id)
        return messages
