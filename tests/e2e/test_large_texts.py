"""Large texts come back whole, and a record too large for one piece of memory is still read."""

from __future__ import annotations

from pathlib import Path

import pytest
from blackbox import ClaudeSession, Home


def test_prompt_of_300_kilobytes_is_shown_whole(tmp_path: Path) -> None:
    home = Home(tmp_path)
    session = ClaudeSession(home)
    text = "begin " + "word " * 60_000 + "end"
    session.append([text, "short answer"])
    assert home.once()["events"] == 2
    shown = home.json("show", session.session)
    assert [m["text"] for m in shown["messages"]] == [text, "short answer"]


@pytest.mark.full
@pytest.mark.timeout(120)
def test_record_of_20_megabytes_is_read_by_the_child(tmp_path: Path) -> None:
    home = Home(tmp_path)
    session = ClaudeSession(home)
    key = "ghp_" + "N0tReAl3ahovCJQX4bipwDKRY5cjqxELSZ6d"
    text = "begin " + "word " * 4_000_000 + key + " end"
    session.append(["before", text, "after"])
    done = home.once()
    assert (done["events"], done["errors"]) == (3, [])
    shown = home.json("show", session.session)
    texts = [m["text"] for m in shown["messages"]]
    assert texts[0] == "before"
    assert texts[2] == "after"
    assert texts[1].startswith("begin word word")
    assert texts[1].endswith("] end")
    assert key not in texts[1]
    assert len(texts[1]) > 20_000_000
