"""Files that a call changes: patches, in each form that a version gives them."""

from __future__ import annotations

from collections.abc import Iterable

from ultracontext.agents.codex.line import as_dict
from ultracontext.agents.codex.tools import command_text
from ultracontext.formats import patched
from ultracontext.model import Tool

PATCH = "apply_patch"
SHELLS = frozenset({"shell", "shell_command", "exec_command", "local_shell"})
"""A patch may stand in a command (0.45: `["apply_patch", "*** Begin Patch…"]`)."""


def changed(tool: Tool) -> Iterable[object]:
    given = as_dict(tool.input)
    if tool.name == PATCH:
        changes = as_dict(given.get("changes"))
        moved = [as_dict(change).get("move_path") for change in changes.values()]
        patch = tool.input if type(tool.input) is str else given.get("input")
        return [*changes, *moved] or patched(patch)
    if tool.name in SHELLS:
        return patched(command_text(given.get("command") or given.get("cmd")))
    return ()
