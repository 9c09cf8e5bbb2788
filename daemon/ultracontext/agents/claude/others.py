"""Messages of all records that are neither a user's nor an answer."""

from __future__ import annotations

from typing import Any

from ultracontext.agents.claude.compat import ATTACHMENTS, CHAIN, LOOSE, SETTING, SYSTEM
from ultracontext.agents.claude.content import blocks, flat
from ultracontext.agents.claude.user import Prompt, injection
from ultracontext.agents.claude.values import identifier, mapping, text_or_none
from ultracontext.agents.claude.wrapping import pieces
from ultracontext.formats.draft import Draft

_LOOSE_TEXT = {
    "agent-name": "agentName",
    "ai-title": "aiTitle",
    "custom-title": "customTitle",
    "last-prompt": "lastPrompt",
    "mode": "mode",
    "permission-mode": "permissionMode",
    "queue-operation": "content",
    "summary": "summary",
}
"""Where the text of a loose record stands."""


def read_system(native: dict[str, Any], draft: Draft) -> None:
    """Boundaries, errors, output of local commands; durations and the like are `meta`."""
    subtype = text_or_none(native.get("subtype")) or "(none)"
    if subtype not in SYSTEM:
        draft.unknown.append(f"system/{subtype}")
    content = flat(native.get("content"))
    if subtype == "compact_boundary":
        draft.system("compact_boundary", content or "Conversation compacted", _boundary(native))
    elif subtype == "api_error":
        _api_error(native, draft)
    elif subtype == "local_command":
        for event_type, text in pieces(content):
            draft.system(event_type or "local_command_output", text)
    elif subtype == "stop_hook_summary":
        draft.system("system/stop_hook_summary", content or flat(native.get("hookErrors")))
    else:
        draft.system(f"system/{subtype}", content)


def _boundary(native: dict[str, Any]) -> dict[str, Any]:
    given = mapping(native.get("compactMetadata"))
    extra = {
        key: given[name] for name, key in _BOUNDARY.items() if type(given.get(name)) in (str, int)
    }
    kept = mapping(given.get("preservedMessages")).get("uuids")
    if type(kept) is list:
        extra["preserved"] = [uuid for uuid in kept if type(uuid) is str]
    return extra


_BOUNDARY = {"trigger": "trigger", "preTokens": "tokens_before", "postTokens": "tokens_after"}


def _api_error(native: dict[str, Any], draft: Draft) -> None:
    error = mapping(native.get("error"))
    text = text_or_none(error.get("formatted")) or text_or_none(error.get("message"))
    status = error.get("status")
    extra: dict[str, Any] = {"error": status if type(status) is int else "api_error"}
    if type(native.get("retryAttempt")) is int:
        extra["retry"] = native["retryAttempt"]
    draft.system("system/api_error", text or flat(native.get("content")) or "API error", extra)


def read_attachment(native: dict[str, Any], draft: Draft) -> None:
    """Context that the program added: the setting is `meta`, files, hooks and the rest `system`."""
    attached = mapping(native.get("attachment"))
    kind = text_or_none(attached.get("type")) or "(none)"
    if kind not in ATTACHMENTS:
        draft.unknown.append(f"attachment/{kind}")
    if kind == "queued_command":
        _queued(native, attached, draft)
    elif kind in SETTING:
        draft.meta(f"attachment/{kind}", _rendered(native, attached))
    else:
        draft.system(f"attachment/{kind}", _rendered(native, attached), _named(attached))


def _queued(native: dict[str, Any], attached: dict[str, Any], draft: Draft) -> None:
    """A prompt typed while the agent worked: it has no user record."""
    mode = attached.get("commandMode")
    origin = injection(native) or injection(attached)
    if origin is None and mode not in (None, "prompt"):
        origin = mode.replace("-", "_") if type(mode) is str else "injected"
    prompt = Prompt(draft, origin)
    for block in blocks(attached.get("prompt")):
        if type(block) is dict and block.get("type") == "image":
            prompt.medium(block)
        else:
            prompt.text(flat(block))
    prompt.flush()
    if not draft.messages:
        draft.meta("attachment/queued_command")


def _rendered(native: dict[str, Any], attached: dict[str, Any]) -> str:
    """The text that was sent to the model, else the one that the attachment holds."""
    return flat(native.get("rendered")) or flat(attached)


def _named(attached: dict[str, Any]) -> dict[str, Any] | None:
    path = text_or_none(attached.get("filename"))
    return None if path is None else {"path": path}


def read_loose(kind: str, native: dict[str, Any], draft: Draft) -> None:
    """Bookkeeping, and kinds that we have not met: `meta`, the latter counted."""
    if kind not in LOOSE and kind not in CHAIN:
        draft.unknown.append(kind)
    key = _LOOSE_TEXT.get(kind)
    text = native.get(key) if key is not None else flat(native.get("content"))
    extra = None
    if kind == "queue-operation":
        operation = identifier(native.get("operation"))
        extra = {"operation": operation} if operation else None
    draft.meta(kind, text if type(text) is str else "", extra)
