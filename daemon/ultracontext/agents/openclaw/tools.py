"""Tools whose calls 2026.7 keeps in a session that it goes on with.

Calls and results of a tool that it does not offer now are dropped without a word (run of 2026.7.35;
2026.9.6 keeps them). So others' tools take the name of the one that does the same here, their input
as it was; what has no such name is told as text.
"""

from __future__ import annotations

from collections.abc import Mapping

OWN = (
    "apply_patch", "edit", "exec", "memory_get", "memory_search", "message", "process", "read",
    "session_status", "sessions_history", "sessions_list", "sessions_send", "sessions_spawn",
    "sessions_yield", "subagents", "web_fetch", "web_search", "write",
)  # fmt: skip
"""What 2026.7.35 offers by default, without a plug-in or a paired device (its request)."""

_SAME = {
    "exec": (
        "Bash", "bash", "container.exec", "exec_command", "local_shell", "local_shell_call",
        "run_command", "run_shell_command", "run_terminal_cmd", "run_terminal_command_v2", "shell",
        "shell_command", "Shell",
    ),
    "process": ("BashOutput", "KillShell", "write_stdin"),
    "read": ("Read", "ReadFile", "read_file", "read_file_v2", "view_image"),
    "write": ("Write", "write_file"),
    "edit": ("Edit", "MultiEdit", "StrReplace", "edit_file_v2", "replace", "search_replace"),
    "apply_patch": ("ApplyPatch",),
    "web_fetch": ("WebFetch",),
    "web_search": ("WebSearch", "google_web_search"),
    "sessions_spawn": ("Agent", "Task"),
}  # fmt: skip

KEPT: Mapping[str, str] = {
    **{name: name for name in OWN},
    **{other: own for own, others in _SAME.items() for other in others},
}
"""A tool's name → the name under which its calls are kept."""
