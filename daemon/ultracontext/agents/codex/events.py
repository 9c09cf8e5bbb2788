"""`event_msg`: what the screen showed."""

from __future__ import annotations

from typing import Any

from ultracontext.agents.codex import content
from ultracontext.agents.codex.items import Handler, media_facts, searched, thought, with_media
from ultracontext.agents.codex.line import Dict, Line, as_dict, as_text
from ultracontext.agents.codex.state import State
from ultracontext.agents.codex.tools import RUN_EVENTS, RUN_ITEMS, compact, run_of
from ultracontext.agents.codex.twins import LEGACY, PAGED
from ultracontext.formats import ENDED, TURN
from ultracontext.model import Message

UNDO = "thread_rolled_back"


def user_message(state: State, line: Line, payload: Dict) -> list[Message]:
    text = as_text(payload.get("message"))
    kind = payload.get("kind")
    if type(kind) is str and kind in ("user_instructions", "environment_context"):
        # S: `InputMessageKind` of 0.3x and 0.45, derived from the text
        return [line.message("system", f"event_msg/user_message/{kind}", text)]
    found = [content.media("image", place) for place in _list(payload.get("images"))]
    found += [content.media("image", place) for place in _list(payload.get("local_images"))]
    found += [content.media("audio", place) for place in _list(payload.get("audio"))]
    found += [content.media("audio", place) for place in _list(payload.get("local_audio"))]
    return [_typed(state, line, "event_msg/user_message", LEGACY, text, found)]


def _typed(
    state: State, line: Line, event_type: str, channel: int, text: str, found: list[content.Media]
) -> Message:
    shown = with_media(text, found)
    first = state.twins.meet("user", channel, text, line.id)
    state.session.prompt(text or shown, first or line.id, confirmed=True)
    if first is not None:
        return line.twin(first, event_type, shown, **media_facts(found))
    return line.message("user", event_type, shown, metadata=media_facts(found))


def agent_message(state: State, line: Line, payload: Dict) -> list[Message]:
    text = as_text(payload.get("message"))
    return [_said(state, line, "event_msg/agent_message", LEGACY, text, payload)]


def _said(
    state: State, line: Line, event_type: str, channel: int, text: str, told: Dict
) -> Message:
    first = state.twins.meet("assistant", channel, text, line.id, told.get("id"))
    if first is not None:
        return line.twin(first, event_type, text)
    phase = as_text(told.get("phase"))
    return line.message("assistant", event_type, text, metadata={"phase": phase} if phase else {})


def agent_reasoning(state: State, line: Line, payload: Dict) -> list[Message]:
    parts = content.texts(payload.get("text"))
    return thought(state, line, f"event_msg/{payload['type']}", LEGACY, parts, encrypted=False)


def item_completed(state: State, line: Line, payload: Dict) -> list[Message]:
    item = as_dict(payload.get("item"))
    kind = as_text(item.get("type"))
    event_type = f"event_msg/item_completed/{kind}"
    if kind == "UserMessage":
        given = item.get("content")
        found = [media for part in _list(given) if (media := content.media_of(part)) is not None]
        text = "".join(content.texts(given))
        return [_typed(state, line, event_type, PAGED, text, found)]
    if kind == "AgentMessage":
        text = "".join(content.texts(item.get("content")))
        return [_said(state, line, event_type, PAGED, text, item)]
    if kind == "Reasoning":
        parts = content.texts(item.get("summary_text")) + content.texts(item.get("raw_content"))
        return thought(state, line, event_type, PAGED, parts, encrypted=False)
    if kind in RUN_ITEMS:
        run = run_of(kind, item)
        return state.ran(line, event_type, run) if run is not None else []
    return _other_item(state, line, event_type, item)


def _other_item(state: State, line: Line, event_type: str, item: Dict) -> list[Message]:
    kind = as_text(item.get("type"))
    if kind == "WebSearch":
        action = _action(item)
        return [searched(state, line, event_type, PAGED, as_text(item.get("id")), action)]
    if kind == "Plan":
        # Stands in the answer's item too, whose event leaves it out (S: items.rs, 2026)
        return [line.message("system", event_type, as_text(item.get("text")))]
    if kind == "HookPrompt":
        texts = [as_text(as_dict(part).get("text")) for part in _list(item.get("fragments"))]
        return [line.message("system", event_type, "\n\n".join(texts))]
    if kind not in KNOWN_ITEMS:
        state.session.count_unknown(event_type)
    return [line.message("meta", event_type)]


def _action(told: Dict) -> Dict:
    """The action of a search, with the query that some versions tell beside it."""
    action = as_dict(told.get("action"))
    return action if action.get("query") else {**action, "query": told.get("query")}


def web_search_end(state: State, line: Line, payload: Dict) -> list[Message]:
    action = _action(payload)
    call_id = as_text(payload.get("call_id"))
    return [searched(state, line, "event_msg/web_search_end", LEGACY, call_id, action)]


def token_count(state: State, line: Line, payload: Dict) -> list[Message]:
    info = payload.get("info")
    if type(info) is dict:
        state.session.copied(line.time)
        state.session.tokens(info.get("total_token_usage"), info.get("last_token_usage"))
    return [line.message("meta", "event_msg/token_count")]


def settings_applied(state: State, line: Line, payload: Dict) -> list[Message]:
    state.session.context(as_dict(payload.get("thread_settings")))
    return [line.message("meta", "event_msg/thread_settings_applied")]


def turn_started(state: State, line: Line, payload: Dict) -> list[Message]:
    state.twins.pause()
    return [line.message("meta", f"event_msg/{payload['type']}")]


def turn_complete(state: State, line: Line, payload: Dict) -> list[Message]:
    del state
    event_type = f"event_msg/{payload['type']}"
    error = payload.get("error")
    if error is None:
        return [line.message("meta", event_type, metadata={TURN: ENDED})]
    metadata = {"error": error, TURN: ENDED}
    return [line.message("system", event_type, _error_text(error), metadata=metadata)]


def turn_aborted(state: State, line: Line, payload: Dict) -> list[Message]:
    state.twins.pause()
    reason = as_text(payload.get("reason")) or "interrupted"
    metadata = {"interrupt": True, "reason": reason, TURN: ENDED}
    return [line.message("system", "event_msg/turn_aborted", f"[{reason}]", metadata=metadata)]


def failure(state: State, line: Line, payload: Dict) -> list[Message]:
    del state
    text = _error_text(payload)
    metadata = {"error": {key: value for key, value in payload.items() if key != "type"}}
    return [line.message("system", f"event_msg/{payload['type']}", text, metadata=metadata)]


def _error_text(error: Any) -> str:
    if type(error) is str:
        return error
    return as_text(as_dict(error).get("message")) or compact(error)


def rolled_back(state: State, line: Line, payload: Dict) -> list[Message]:
    state.twins.pause()
    turns = payload.get("num_turns")
    turns = turns if type(turns) is int and 0 < turns < 1 << 31 else 0
    text = f"[{turns} turns undone]" if turns != 1 else "[1 turn undone]"
    return [line.message("system", f"event_msg/{UNDO}", text, metadata={"turns": turns})]


def renamed(state: State, line: Line, payload: Dict) -> list[Message]:
    state.session.name(payload.get("thread_name", payload.get("name")))
    return [line.message("meta", "event_msg/thread_name_updated")]


def reviewed(state: State, line: Line, payload: Dict) -> list[Message]:
    del state
    output = as_dict(payload.get("review_output"))
    text = as_text(output.get("overall_explanation"))
    return [line.message("system", "event_msg/exited_review_mode", text)]


def ran(state: State, line: Line, payload: Dict) -> list[Message]:
    kind = payload["type"]
    run = run_of(kind, {**payload, "id": payload.get("call_id")})
    return state.ran(line, f"event_msg/{kind}", run) if run is not None else []


def _list(value: object) -> list[Any]:
    return value if type(value) is list else []


HANDLERS: dict[str, Handler] = {
    "user_message": user_message,
    "agent_message": agent_message,
    "agent_reasoning": agent_reasoning,
    "agent_reasoning_raw_content": agent_reasoning,
    "item_completed": item_completed,
    "web_search_end": web_search_end,
    "token_count": token_count,
    "thread_settings_applied": settings_applied,
    "task_started": turn_started,
    "turn_started": turn_started,
    "task_complete": turn_complete,
    "turn_complete": turn_complete,
    "turn_aborted": turn_aborted,
    "error": failure,
    "stream_error": failure,
    "warning": failure,
    "guardian_warning": failure,
    UNDO: rolled_back,
    "thread_name_updated": renamed,
    "exited_review_mode": reviewed,
    **dict.fromkeys(RUN_EVENTS, ran),
}
BOOKKEEPING = frozenset(
    {
        "context_compacted",
        "entered_review_mode",
        "session_configured",
        "thread_goal_updated",
        "sub_agent_activity",
        "item_started",
        "plan_update",
        "turn_diff",
        "background_event",
        "shutdown_complete",
        "exec_command_begin",
        "patch_apply_begin",
        "mcp_tool_call_begin",
        "web_search_begin",
        "image_generation_begin",
        "agent_reasoning_section_break",
        "agent_message_content_delta",
        "apply_patch_approval_request",
        "collab_agent_interaction_begin",
        "collab_agent_interaction_end",
        "collab_agent_spawn_begin",
        "collab_agent_spawn_end",
        "collab_close_begin",
        "collab_close_end",
        "collab_resume_begin",
        "collab_resume_end",
        "collab_waiting_begin",
        "collab_waiting_end",
        "deprecation_notice",
        "dynamic_tool_call_request",
        "elicitation_request",
        "exec_approval_request",
        "exec_command_output_delta",
        "guardian_assessment",
        "hook_completed",
        "hook_started",
        "mcp_startup_complete",
        "mcp_startup_update",
        "model_reroute",
        "model_verification",
        "plan_delta",
        "raw_response_item",
        "reasoning_content_delta",
        "request_permissions",
        "request_user_input",
        "terminal_interaction",
        "turn_moderation_metadata",
    }
)
"""Known events that hold nothing to read (S: policy.rs, 2026). Most are not persisted by now."""
KNOWN_ITEMS = frozenset({"ContextCompaction", "SubAgentActivity", "Sleep"})
