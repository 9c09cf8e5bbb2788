"""Files that tools changed, from messages."""

from __future__ import annotations

import pytest

from ultracontext.formats import MOST_FILES, Changes, patched
from ultracontext.formats.changes import MOST_WAITING, absolute
from ultracontext.model import Message, Tool


def paths(tool: Tool) -> list[object]:
    return [tool.input] if tool.name == "write" else []


def call(name: str, path: object, tool: str = "write") -> Message:
    made = Tool(name=tool, call_id=name, input=path)
    return Message(id=name, role="assistant", kind="tool_call", event_type="t", text="", tool=made)


def result(name: str, *, failed: bool | None = None) -> Message:
    made = Tool(call_id=name, output="x", is_error=failed)
    return Message(
        id=f"{name}r", role="tool", kind="tool_result", event_type="t", text="", tool=made
    )


def test_a_file_counts_once_its_call_has_a_result() -> None:
    changes = Changes(paths)
    changes.note([call("1", "/a")], None)
    assert changes.files == []
    changes.note([result("1"), call("2", "/a"), result("2"), call("3", "/b"), result("3")], None)
    assert changes.files == ["/a", "/b"]


def test_a_failed_call_and_one_of_another_tool_change_nothing() -> None:
    changes = Changes(paths)
    changes.note([call("1", "/a"), result("1", failed=True)], None)
    changes.note([call("2", "/b", "read"), result("2")], None)
    assert changes.files == []


def test_a_source_without_results_counts_calls() -> None:
    changes = Changes(paths)
    changes.note([call("1", "/a")], None, sure=True)
    assert changes.files == ["/a"]


def test_odd_paths_are_left_out() -> None:
    changes = Changes(paths)
    for n, odd in enumerate([None, 3, "", "  ", ["/a"], {"a": 1}]):
        changes.note([call(str(n), odd), result(str(n))], "/w")
    assert changes.files == []


def test_files_and_waiting_calls_are_bounded() -> None:
    changes = Changes(paths)
    for n in range(MOST_FILES + 10):
        changes.note([call(str(n), f"/{n}"), result(str(n))], None)
    assert len(changes.files) == MOST_FILES
    for n in range(MOST_WAITING + 10):
        changes.note([call(f"w{n}", f"/{n}")], None)
    assert len(changes._waiting) == MOST_WAITING


@pytest.mark.parametrize(
    ("path", "folder", "expected"),
    [
        ("a.py", "/w", "/w/a.py"),
        ("./x/../a.py", "/w/", "/w/a.py"),
        ("/w/./b", None, "/w/b"),
        ("../../..", "/w", "/"),
        ("a.py", None, "a.py"),
        ("file:///w/a", "/x", "/w/a"),
        (r"C:\\a.py", "/w", r"C:\\a.py"),
        ("~/a", "/w", "~/a"),
    ],
)
def test_paths_are_made_absolute(path: str, folder: str | None, expected: str) -> None:
    assert absolute(path, folder) == expected


def test_a_patch_names_its_files_wherever_it_stands() -> None:
    patch = (
        "bash -lc 'apply_patch <<EOF\n*** Begin Patch\n*** Add File: a b.py\n+x\n"
        "*** Update File: c.py\n*** Move to: d.py\n@@\n*** Delete File: e.py\n*** End Patch\nEOF'"
    )
    assert patched(patch) == ["a b.py", "c.py", "d.py", "e.py"]
    assert patched(None) == patched("x") == []
