"""Facts of a session, computed by its agent's reader from masked records."""

from __future__ import annotations

from typing import Literal

import msgspec


class Base(msgspec.Struct, frozen=True, kw_only=True):
    """The part of another session with which this one begins."""

    session_id: str
    end: int
    """First place that no longer belongs to this session."""
    unit: Literal["native", "position"] = "native"
    """`native`: the reader's `covers` decides what `end` means; `position`: place in the context.
    """


class SessionFacts(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What lists show of a session. Times are ISO 8601 UTC ending in `Z`.

    `title_source` is `name` (given by the person), `agent` (its own title) or `prompt` (first
    typed prompt); titles are one line of at most 200 characters. `project_path` comes from a
    record's own cwd, never from a folder name.
    """

    title: str | None = None
    title_source: Literal["name", "agent", "prompt"] | None = None
    project_path: str | None = None
    git_branch: str | None = None
    git_remote: str | None = None
    model: str | None = None
    agent_version: str | None = None
    started_at: str | None = None
    updated_at: str | None = None
    messages: int = 0
    """Messages that `show` gives, `meta` not counted."""
    parent_session: str | None = None
    parent_agent: str | None = None
    """Of a `switch`: whose session the parent is; None = the same agent's."""
    relation: Literal["subagent", "fork", "switch"] | None = None
    base: Base | None = None
    lineage_key: str | None = None
    """Sessions of one agent that share it may be forks of each other; `spec.relate` decides."""
    tokens: int = 0
    """Input and output tokens, counted once per answer."""
    usage: dict[str, int] = {}
    """The same by kind: `input_tokens`, `output_tokens`, and where the agent tells them
    `cache_read_tokens`, `cache_write_tokens`, `reasoning_tokens`."""
    files: list[str] = []
    """Files that the session's tools changed, each once, in order; absolute where the folder is
    known, at most `formats.MOST_FILES`."""
    traits: dict[str, str] = {}
    """What the agent's own lists go by, in its words; for `AgentSpec.listing` only."""
    unknown: dict[str, int] = {}
    """Record kinds that the reader does not know, with their counts."""
