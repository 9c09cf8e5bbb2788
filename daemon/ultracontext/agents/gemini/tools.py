"""Tool calls and their results.

0.61.0 writes a result twice: in `toolCalls[].result` of the answer that made the call, and in a
user message of its own that has nothing but functionResponses. Another writer may use either, or
put functionCall Parts into the content. Here each call and each result is one message.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ultracontext.agents.gemini.parts import Content, failed, flat, lean, response_output
from ultracontext.agents.gemini.spill import companion
from ultracontext.agents.gemini.values import as_json, identifier, listing, moment, text_or_none
from ultracontext.formats.draft import Draft
from ultracontext.model import Tool

_TELLING = (
    "command", "file_path", "absolute_path", "path", "dir_path", "pattern", "query", "url",
    "prompt", "description",
)  # fmt: skip
"""Arguments that say at a glance what a call does, best first."""

_LONGEST_INPUT = 2000


def plain_id(call_id: str, name: str) -> str:
    """A call's id without the tool's name before it: both forms are used for one call."""
    return call_id[len(name) + 2 :] if name and call_id.startswith(f"{name}__") else call_id


class Ledger:
    """Which call each functionResponse belongs to, and whether it has been told already."""

    def __init__(self) -> None:
        self._calls: dict[str, tuple[str, object | None]] = {}
        """Plain id → id as the call has it, who told its result."""
        self._nameless: list[str] = []
        """Tools of the last answer whose calls have no id, but a result."""

    def answer(self) -> None:
        """A new answer begins."""
        self._nameless = []

    def call(self, call_id: str, name: str, teller: object | None) -> None:
        if call_id:
            self._calls[plain_id(call_id, name)] = (call_id, teller)
        elif teller is not None:
            self._nameless.append(name)

    def claim(self, call_id: str, name: str, teller: object) -> str | None:
        """The id under which a functionResponse is told; None when its result has been told."""
        if not call_id:
            if name in self._nameless:
                self._nameless.remove(name)
                return None
            return ""
        plain = plain_id(call_id, name)
        known, told = self._calls.get(plain, (call_id, None))
        if told is not None and told is not teller:
            return None
        self._calls[plain] = (known, teller)
        return known


def richness(native: dict[str, Any]) -> tuple[int, int]:
    """How many calls and how many results a message holds."""
    calls = listing(native.get("toolCalls"))
    results = sum(1 for call in calls if type(call) is dict and call.get("result") is not None)
    return len(calls), results


def read_calls(
    native: dict[str, Any],
    content: Content,
    draft: Draft,
    ledger: Ledger,
    teller: object,
    companions: Mapping[str, str],
) -> None:
    """The calls of an answer, each followed by its result where the answer has it."""
    ledger.answer()
    told = set()
    for call in listing(native.get("toolCalls")):
        if type(call) is dict:
            told.add(_call(call, draft, ledger, teller, companions))
        else:
            draft.unknown.append("toolCalls/(odd)")
    for call in content.calls:
        name, call_id = _named(call)
        if plain_id(call_id, name) not in told:
            ledger.call(call_id, name, None)
            draft.add(
                "assistant", "tool_call", "gemini", _said(name, call.get("args")),
                tool=Tool(name=name, call_id=call_id, input=call.get("args")),
            )  # fmt: skip


def _named(call: dict[str, Any]) -> tuple[str, str]:
    return text_or_none(call.get("name")) or "", identifier(call.get("id")) or ""


def _call(
    call: dict[str, Any],
    draft: Draft,
    ledger: Ledger,
    teller: object,
    companions: Mapping[str, str],
) -> str:
    name, call_id = _named(call)
    result = _result(call)
    ledger.call(call_id, name, teller if result is not None else None)
    tool = Tool(name=name, call_id=call_id, input=call.get("args"))
    extra = _remarks(call)
    draft.add(
        "assistant", "tool_call", "gemini", _said(name, call.get("args")), tool=tool, extra=extra
    )
    if result is not None:
        output, text = result
        tool = Tool(name=name, call_id=call_id, output=output, is_error=_error(call))
        whole = companions.get(companion(call_id)) if call_id else None
        if whole is not None:
            text, extra = whole, {**extra, "spilled": True}
        time = moment(call.get("timestamp"))
        draft.add("tool", "tool_result", "gemini", text, tool=tool, time=time, extra=extra)
    return plain_id(call_id, name)


def _result(call: dict[str, Any]) -> tuple[Any, str] | None:
    """Output and text; what was shown to the person stands in where nothing else is."""
    result = call.get("result")
    if result is None:
        shown = text_or_none(call.get("resultDisplay"))
        return None if shown is None else (shown, shown)
    return lean(result), flat(result)


def _error(call: dict[str, Any]) -> bool | None:
    status = call.get("status")
    return status in ("error", "cancelled") if type(status) is str else None


def _remarks(call: dict[str, Any]) -> dict[str, Any]:
    """Metadata of a call: its status where it is not `success`, the sub-agent that did it."""
    remarks: dict[str, Any] = {}
    status = text_or_none(call.get("status"))
    if status is not None and status != "success":
        remarks["status"] = status[:40]
    agent = identifier(call.get("agentId"))
    if agent is not None:
        remarks["subagent"] = agent
    return remarks


def read_responses(content: Content, draft: Draft, ledger: Ledger, teller: object) -> None:
    """The results in a user message; those that were told with their call are left out."""
    for response in content.responses:
        name = text_or_none(response.get("name")) or ""
        call_id = ledger.claim(identifier(response.get("id")) or "", name, teller)
        if call_id is None:
            continue
        output = lean([{"functionResponse": response}])
        draft.add(
            "tool", "tool_result", "user", flat(response_output(response)),
            tool=Tool(name=name, call_id=call_id, output=output, is_error=failed(response)),
        )  # fmt: skip


def _said(name: str, given: Any) -> str:
    """`tool(input)`, the input on one or a few lines."""
    return f"{name}({_shown(given)})"


def _shown(given: Any) -> str:
    if type(given) is dict:
        for key in _TELLING:
            value = given.get(key)
            if type(value) is str and value:
                return value[:_LONGEST_INPUT]
        if not given:
            return ""
    if type(given) is str:
        return given[:_LONGEST_INPUT]
    return "" if given is None else as_json(given)[:_LONGEST_INPUT]
