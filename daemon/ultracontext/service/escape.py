"""Texts as systemd and desktop entries want them.

systemd.service(5) and systemd.syntax(7) of systemd 252: words in double quotes with C escapes, `%`
doubled for specifiers, `$` doubled in command lines only. systemd 252 refuses a quote or backslash
in the program's own path however it is escaped, so such a path is an argument of /bin/sh.
Desktop Entry Specification 1.5: `Exec` is quoted, then escaped as a string; `%` is doubled.
"""

from __future__ import annotations

from collections.abc import Sequence

FOREIGN = frozenset("\"'\\$")


def quoted(text: str) -> str:
    """A word in a list of words (`Environment=`, `ReadWritePaths=`)."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{escaped}"'


def command_line(arguments: Sequence[str]) -> str:
    """The value of `ExecStart=`."""
    program, *rest = arguments
    if FOREIGN.isdisjoint(program):
        words = [program, *rest]
        lead = ""
    else:
        words = [program, *rest]
        lead = '/bin/sh -c "exec \\"$$0\\" \\"$$@\\"" '
    return lead + " ".join(quoted(word).replace("$", "$$") for word in words)


def desktop_command(arguments: Sequence[str]) -> str:
    """The value of `Exec=`."""
    return " ".join(_desktop_word(word) for word in arguments)


def _desktop_word(text: str) -> str:
    for char in '\\"`$':
        text = text.replace(char, "\\" + char)
    return '"' + text.replace("\\", "\\\\").replace("%", "%%") + '"'
