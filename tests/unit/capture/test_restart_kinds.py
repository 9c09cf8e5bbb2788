"""What a node is does not depend on when capture was started anew."""

from __future__ import annotations

from pathlib import Path

import pytest
from agent_lab import AgentLab
from recordings import lay_out, recordings

CASES = [("codex", "multi-turn"), ("codex", "v0125-tools"), ("gemini", "tui-rewind-esc"),
         ("claude", "tui-chat-tools"), ("openclaw", "v7-tools")]  # fmt: skip


def kinds(lab: AgentLab) -> dict[bytes, tuple[str, str, str]]:
    return {
        bytes(node.event_id): (node.kind, node.role, node.event_type)
        for name in lab.sessions()
        for node in lab.space.nodes(lab.row(name).context_id, all_revisions=True)
    }


@pytest.mark.parametrize(("agent", "recording"), CASES)
def test_kinds_are_those_of_one_run(tmp_path: Path, agent: str, recording: str) -> None:
    assert recording in recordings(agent)
    whole, parts = AgentLab(tmp_path / "whole", agent), AgentLab(tmp_path / "parts", agent)
    lay_out(agent, recording, whole.root)
    whole.run()
    source = lay_out(agent, recording, tmp_path / "recorded")
    files = [p for p in source.rglob("*.jsonl") if p.is_file()]
    longest = max(files, key=lambda path: path.stat().st_size)
    lines = longest.read_bytes().splitlines(keepends=True)
    lay_out(agent, recording, parts.root)
    growing = parts.root / longest.relative_to(source)
    for end in (*range(1, len(lines), 5), len(lines)):
        growing.write_bytes(b"".join(lines[:end]))
        parts.run()
    assert kinds(parts) == kinds(whole)
