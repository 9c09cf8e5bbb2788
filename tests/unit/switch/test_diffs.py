"""What a call would change, by the shapes of input that the agents' own tools have."""

from __future__ import annotations

from typing import Any

import pytest

from ultracontext.switch.diffs import changes_of

PATCH = """*** Begin Patch
*** Update File: src/a.py
@@ def f():
-    return 1
+    return 2
*** Add File: src/b.py
+x = 1
*** End Patch"""


@pytest.mark.parametrize(
    ("given", "path", "lines"),
    [
        (
            {"file_path": "/p/a.py", "old_string": "one\ntwo", "new_string": "one\nthree"},
            "/p/a.py", ["-two", "+three"],
        ),
        (
            {"path": "a.py", "edits": [{"oldText": "x", "newText": "y"}]},
            "a.py", ["-x", "+y"],
        ),
        ({"file_path": "/p/new.txt", "content": "a\nb"}, "/p/new.txt", ["+a", "+b"]),
        ({"path": "/p/f", "file_text": "whole"}, "/p/f", ["+whole"]),
    ],
)  # fmt: skip
def test_edits_and_whole_files_become_a_diff(given: Any, path: str, lines: list[str]) -> None:
    ((found, diff),) = changes_of(given)
    assert found == path
    assert [line for line in diff.split("\n") if line[:1] in "+-"] == lines


@pytest.mark.parametrize("given", [PATCH, {"input": PATCH}, {"command": ["apply_patch", PATCH]}])
def test_a_patch_is_cut_by_file(given: Any) -> None:
    found = dict(changes_of(given))
    assert list(found) == ["src/a.py", "src/b.py"]
    assert found["src/a.py"] == "@@ def f():\n-    return 1\n+    return 2"
    assert found["src/b.py"] == "+x = 1"


@pytest.mark.parametrize(
    "given",
    [None, [], 3, "ls", {"command": "ls"}, {"file_path": "/p/a"}, {"path": 3}, {"edits": 1}],
)
def test_other_calls_change_nothing(given: Any) -> None:
    assert changes_of(given) == []
