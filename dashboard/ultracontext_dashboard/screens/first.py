"""What a person sees before anything was captured."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text


def first_words(looked_at: Sequence[tuple[str, str, bool]], daemon_error: str) -> Text:
    """`looked_at`: (agent, folder, whether it is there)."""
    shown = Text()
    shown.append("Nothing is captured yet.\n\n", "bold")
    if daemon_error:
        shown.append(f"! {daemon_error}: ", "bold red")
        shown.append("ultracontext daemon start\n\n", "bold")
    shown.append("Looked for sessions here:\n")
    for agent, folder, there in looked_at:
        sign = "●" if there else "○"
        shown.append(f"  {sign} {agent:<12} {folder}", "" if there else "dim")
        shown.append("\n" if there else "   not there\n", "dim")
    shown.append("\nStart one of these agents, and its session appears here at once.\n")
    shown.append("To see how that looks without any agent: ")
    shown.append("ultracontext demo\n", "bold")
    return shown
