"""What each tool takes. The schemas that clients see are made of these."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from ultracontext.mcp.budget import DEFAULT_TOKENS, MOST_TOKENS, SMALLEST_TOKENS

Id = Annotated[
    str, Meta(description="Context id (ctx_…), session id, or a unique beginning.", min_length=1)
]
Agent = Annotated[str, Meta(description="Only this agent's, by the short name that lists give.")]
Project = Annotated[str, Meta(description="Only sessions of this folder and below.")]
Time = Annotated[str, Meta(description="ISO 8601, or 2h, 1d ago.")]
Limit = Annotated[int, Meta(description="At most so many.", ge=1, le=1000)]


class Arguments(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Of every tool."""

    max_tokens: Annotated[
        int,
        Meta(description="Hard budget of the answer.", ge=SMALLEST_TOKENS, le=MOST_TOKENS),
    ] = DEFAULT_TOKENS
    cursor: Annotated[str, Meta(description="next_cursor of the answer before.")] = ""


class ListContexts(Arguments, kw_only=True):
    source: Agent = ""
    user_id: str = ""
    host: str = ""
    project_path: Annotated[str, Meta(description="Exactly this folder.")] = ""
    session_id: str = ""
    after: Time = ""
    before: Time = ""
    limit: Limit = 10


class GetContextMessages(Arguments, kw_only=True):
    context_id: Id
    first: Annotated[int, Meta(description="Index to start at.", ge=0)] = 0
    last: Annotated[int, Meta(description="Only the last so many.", ge=0)] = 0


class GetRecentActivity(Arguments, kw_only=True):
    source: Agent = ""
    message_limit: Limit = 10


class SearchContexts(Arguments, kw_only=True):
    query: Annotated[
        str, Meta(description='Words are AND, "…" is a phrase, x* a prefix.', min_length=1)
    ]
    agent: Agent = ""
    project: Project = ""
    since: Time = ""
    until: Time = ""
    role: Annotated[str, Meta(description="user, assistant, tool, system, …")] = ""
    tool: Annotated[str, Meta(description="Only calls of this tool.")] = ""
    file: Annotated[str, Meta(description="Only sessions that changed this file.")] = ""
    limit: Annotated[int, Meta(ge=1, le=100)] = 20


class GetSession(Arguments, kw_only=True):
    session: Annotated[str, Meta(description="An id, or `latest`.")] = "latest"
    agent: Agent = ""
    project: Project = ""


class WhatsHappening(Arguments, kw_only=True):
    since: Time = "1d"
    limit: Annotated[int, Meta(ge=1, le=50)] = 20


class GetFileHistory(Arguments, kw_only=True):
    path: Annotated[str, Meta(description="A path, or its end.", min_length=1)]
    limit: Annotated[int, Meta(ge=1, le=50)] = 10


class Handoff(Arguments, kw_only=True):
    session: Annotated[str, Meta(description="An id, or `latest`.")] = "latest"
    agent: Agent = ""


class ForkContext(Arguments, kw_only=True):
    context_id: Id
    at: Annotated[int, Meta(description="Up to this message of the context; -1: all.", ge=-1)] = -1
    version: Annotated[int, Meta(description="Of this version; -1: the newest.", ge=-1)] = -1


class AppendNote(Arguments, kw_only=True):
    context_id: Id
    text: Annotated[str, Meta(min_length=1, max_length=100_000)]


class SwitchSession(Arguments, kw_only=True):
    session: Id
    to: Annotated[str, Meta(description="Agent to go on in, by its short name.", min_length=1)]


def schema_of(kind: type[Arguments]) -> dict[str, Any]:
    """JSON Schema of an object, without references."""
    (_,), parts = msgspec.json.schema_components([kind])
    made = dict(parts[kind.__name__])
    made.pop("title", None)
    made.pop("description", None)
    return made
