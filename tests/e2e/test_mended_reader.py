"""A reader that was wrong is mended for the sessions that were captured before."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from blackbox import ClaudeSession, Home

import ultracontext

FEED = "def feed(self, record: MaskedRecord, message_id: MessageId) -> list[Message]:"
WRONG = {
    "raises": f'{FEED}\n        raise RuntimeError("wrong")',
    "gives nothing": f"{FEED}\n        return []",
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("fault", sorted(WRONG))
def test_captured_by_a_wrong_reader_and_shown_by_the_mended_one(fault: str, tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    session = ClaudeSession(home)
    session.append(["question", "answer", "more", "done"])
    wrong = tmp_path / "wrong"
    shutil.copytree(Path(ultracontext.__file__).parent, wrong / "ultracontext")
    reader = wrong / "ultracontext" / "agents" / "claude" / "reader.py"
    text = reader.read_text()
    assert FEED in text
    reader.write_text(text.replace(FEED, WRONG[fault]))
    done = home.run("daemon", "run", "--once", "--json", PYTHONPATH=str(wrong))
    assert done.returncode == 0, done.stderr
    [listed] = home.json("sessions")
    assert (listed["messages"], listed["title"]) == (4, "question")
    shown = home.json("show", session.session)
    assert [m["text"] for m in shown["messages"]] == ["question", "answer", "more", "done"]
    assert home.once()["events"] == 0
