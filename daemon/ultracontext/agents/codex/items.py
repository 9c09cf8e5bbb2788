"""`response_item`: what the model was given and gave."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ultracontext.agents.codex import content
from ultracontext.agents.codex.line import ASSUMED, Dict, Line, as_dict, as_text
from ultracontext.agents.codex.state import State
from ultracontext.agents.codex.tools import parse
from ultracontext.agents.codex.twins import ITEM
from ultracontext.agents.codex.wrappers import (
    OPEN_LABELS,
    TYPED_LABELS,
    developer_name,
    is_media_tag,
    wrapper_name,
)
from ultracontext.model import Message, Tool

Handler = Callable[[State, Line, Dict], list[Message]]

MESSAGE = "response_item/message"


class Parts:
    """The parts of a user's item, sorted."""

    __slots__ = ("injected", "labelled", "media", "names", "typed")

    def __init__(self) -> None:
        self.typed: list[str] = []
        self.injected: list[str] = []
        self.names: list[str] = []
        self.media: list[content.Media] = []
        self.labelled = False
        """Whether the program itself says that a part was typed."""

    def add(self, part: object, label: str) -> None:
        found = content.media_of(part)
        if found is not None:
            self.media.append(found)
            return
        text = content.text_of(part)
        if text is None:
            return
        name = None
        if label in TYPED_LABELS:
            self.labelled = True
        elif label not in OPEN_LABELS:
            name = label
        else:
            name = wrapper_name(text)
        if name is None:
            self.typed.append(text)
        else:
            self.injected.append(text)
            self.names.append(name)


def message(state: State, line: Line, payload: Dict) -> list[Message]:
    role = payload.get("role")
    if role == "assistant":
        return _answer(state, line, payload)
    if role == "user":
        return _from_user(state, line, payload)
    texts = content.texts(payload.get("content"))
    names = "+".join(developer_name(text) for text in texts) or as_text(role) or "unknown"
    return [line.message("system", f"{MESSAGE}/{names}", "\n\n".join(texts))]


def _from_user(state: State, line: Line, payload: Dict) -> list[Message]:
    parts = _sort(payload)
    messages = []
    if parts.injected:
        text = "\n\n".join(parts.injected)
        event_type = f"{MESSAGE}/{'+'.join(parts.names)}"
        first = None
        if not parts.typed and not parts.media:
            first = state.twins.meet("user", ITEM, text, line.id, typed=False)
        if first is not None:
            return [line.twin(first, event_type, text)]
        messages.append(line.message("system", event_type, text))
    if parts.typed or parts.media:
        messages.append(_typed(state, line, parts))
    return messages or [line.message("meta", MESSAGE)]


def _sort(payload: Dict) -> Parts:
    parts = Parts()
    given = payload.get("content")
    if type(given) is not list:
        parts.typed = content.texts(given)
        return parts
    passed = as_dict(payload.get("internal_chat_message_metadata_passthrough"))
    kinds = passed.get("content_item_kinds")
    labels = kinds if type(kinds) is list and len(kinds) == len(given) else [""] * len(given)
    media = [content.media_of(part) is not None for part in given]
    for index, part in enumerate(given):
        beside = any(media[max(index - 1, 0) : index + 2])
        text = content.text_of(part) if beside else None
        if text is None or not is_media_tag(text):
            parts.add(part, as_text(labels[index]))
    return parts


def _typed(state: State, line: Line, parts: Parts) -> Message:
    text = "".join(parts.typed)
    event_type = MESSAGE
    name = line.next_id()
    first = state.twins.meet("user", ITEM, text, name)
    shown = with_media(text, parts.media)
    if first is not None:
        return line.twin(first, event_type, shown, **media_facts(parts.media))
    state.session.prompt(text or shown, name, confirmed=False)
    metadata = media_facts(parts.media)
    written = as_dict(line.native.get("metadata"))
    if not parts.labelled or written.get("client_authored") is True:
        metadata[ASSUMED] = True
    return line.message("user", event_type, shown, metadata=metadata)


def with_media(text: str, found: list[content.Media]) -> str:
    """A prompt with a line for each attachment before it."""
    lines = [media.placeholder for media in found]
    return "\n".join([*lines, text]) if text or not lines else "\n".join(lines)


def media_facts(found: list[content.Media]) -> Dict:
    return {"attachments": [media.facts for media in found]} if found else {}


def _answer(state: State, line: Line, payload: Dict) -> list[Message]:
    parts = content.texts(payload.get("content"))
    text = "".join(parts)
    written = as_dict(line.native.get("metadata"))
    if written.get("compaction_output") is True:
        return [line.message("system", f"{MESSAGE}/compaction_output", text)]
    if text.startswith('{"author":') and _between_agents(text):
        return [line.message("system", f"{MESSAGE}/inter_agent_communication", text)]
    first = state.twins.repeats("assistant", ITEM, parts) if len(parts) > 1 else None
    if first is None:
        first = state.twins.meet("assistant", ITEM, text, line.id, payload.get("id"))
    if first is not None:
        return [line.twin(first, MESSAGE, text)]
    phase = as_text(payload.get("phase"))
    return [line.message("assistant", MESSAGE, text, metadata={"phase": phase} if phase else {})]


def _between_agents(text: str) -> bool:
    """A message of another agent, kept as JSON in an assistant item (S: openai/codex,
    codex-rs/protocol/src/protocol.rs, `InterAgentCommunication::to_response_input_item`, 2026)."""
    value = parse(text)
    return type(value) is dict and "recipient" in value and "content" in value


def agent_message(state: State, line: Line, payload: Dict) -> list[Message]:
    """A message between agents as an item of its own (S: `ResponseItem::AgentMessage`, 2026)."""
    del state
    text = "\n".join(content.texts(payload.get("content")))
    return [line.message("system", "response_item/agent_message", text, metadata=writers(payload))]


def writers(payload: Dict) -> Dict:
    """Who wrote to whom."""
    found: Dict = {"author": payload.get("author"), "recipient": payload.get("recipient")}
    return {key: value for key, value in found.items() if value is not None}


def reasoning(state: State, line: Line, payload: Dict) -> list[Message]:
    parts = content.texts(payload.get("summary")) + content.texts(payload.get("content"))
    encrypted = payload.get("encrypted_content") is not None
    return thought(state, line, "response_item/reasoning", ITEM, parts, encrypted)


def thought(
    state: State, line: Line, event_type: str, channel: int, parts: list[str], encrypted: bool
) -> list[Message]:
    """A thought of several parts, each of which may have been met; empty ones are `meta`."""
    new: list[str] = []
    first = None
    for part in parts:
        if not part.strip():
            continue
        met = state.twins.meet("reasoning", channel, part, line.id)
        if met is None:
            new.append(part)
        else:
            first = first or met
    metadata: Dict = {"encrypted": True} if encrypted else {}
    if new:
        return [line.message("reasoning", event_type, "\n\n".join(new), metadata=metadata)]
    if first is not None:
        return [line.twin(first, event_type)]
    return [line.message("meta", event_type, metadata=metadata)]


def function_call(state: State, line: Line, payload: Dict) -> list[Message]:
    name, call_id = as_text(payload.get("name")), as_text(payload.get("call_id"))
    space = as_text(payload.get("namespace"))
    more: dict[str, Any] = {"namespace": space} if space else {}
    given = parse(payload.get("arguments"))
    return state.call(line, "response_item/function_call", name, call_id, given, **more)


def custom_tool_call(state: State, line: Line, payload: Dict) -> list[Message]:
    name, call_id = as_text(payload.get("name")), as_text(payload.get("call_id"))
    return state.call(line, "response_item/custom_tool_call", name, call_id, payload.get("input"))


def local_shell_call(state: State, line: Line, payload: Dict) -> list[Message]:
    call_id = as_text(payload.get("call_id")) or as_text(payload.get("id"))
    given = payload.get("action")
    return state.call(line, "response_item/local_shell_call", "local_shell", call_id, given)


def tool_search_call(state: State, line: Line, payload: Dict) -> list[Message]:
    call_id = as_text(payload.get("call_id")) or as_text(payload.get("id"))
    given = parse(payload.get("arguments"))
    return state.call(line, "response_item/tool_search_call", "tool_search", call_id, given)


def image_generation_call(state: State, line: Line, payload: Dict) -> list[Message]:
    call_id = as_text(payload.get("call_id")) or as_text(payload.get("id"))
    given = {"prompt": as_text(payload.get("revised_prompt"))}
    messages = state.call(
        line, "response_item/image_generation_call", "image_generation", call_id, given
    )
    if as_text(payload.get("result")) and messages[0].kind == "tool_call":
        made = "[image]"
        messages += state.result(line, "response_item/image_generation_call", call_id, made)
    return messages


def web_search_call(state: State, line: Line, payload: Dict) -> list[Message]:
    action = as_dict(payload.get("action"))
    call_id = as_text(payload.get("call_id")) or as_text(payload.get("id"))
    return [searched(state, line, "response_item/web_search_call", ITEM, call_id, action)]


def searched(
    state: State, line: Line, event_type: str, channel: int, call_id: str, action: Dict
) -> Message:
    """A search of the web: no output in the file, and before 0.171 no id in its item."""
    query = ""
    for key in ("query", "url", "pattern"):
        query = query or as_text(action.get(key))
    tool = Tool(name="web_search", call_id=call_id, input=action)
    first = state.twins.meet("search", channel, query, line.id, call_id)
    if first is not None:
        return line.twin(first, event_type, "", tool)
    return line.message("tool_call", event_type, f"web_search: {query}", tool)


def _output(kind: str) -> Handler:
    event_type = f"response_item/{kind}"

    def handle(state: State, line: Line, payload: Dict) -> list[Message]:
        call_id, name = as_text(payload.get("call_id")), as_text(payload.get("name"))
        return state.result(line, event_type, call_id, payload.get("output"), name)

    return handle


def tool_search_output(state: State, line: Line, payload: Dict) -> list[Message]:
    tools = payload.get("tools")
    found = tools if type(tools) is list else []
    names = [as_text(as_dict(tool).get("name")) for tool in found]
    call_id = as_text(payload.get("call_id"))
    text = "\n".join(filter(None, names))
    return state.result(line, "response_item/tool_search_output", call_id, text, "tool_search")


HANDLERS: dict[str, Handler] = {
    "message": message,
    "agent_message": agent_message,
    "reasoning": reasoning,
    "function_call": function_call,
    "custom_tool_call": custom_tool_call,
    "local_shell_call": local_shell_call,
    "tool_search_call": tool_search_call,
    "image_generation_call": image_generation_call,
    "web_search_call": web_search_call,
    "function_call_output": _output("function_call_output"),
    "custom_tool_call_output": _output("custom_tool_call_output"),
    "mcp_tool_call_output": _output("mcp_tool_call_output"),
    "tool_search_output": tool_search_output,
}
BOOKKEEPING = frozenset(
    {
        "additional_tools",
        "ghost_snapshot",
        "compaction",
        "compaction_summary",
        "compaction_trigger",
        "context_compaction",
    }
)
"""Known items that hold nothing to read. Tool lists (`additional_tools`) hold the person's own MCP
tools, so they are kept in the store like everything else."""
