"""What a person sees before anything was captured."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from ultracontext_dashboard.text import tilde


def first_words(
    looked_at: Sequence[tuple[str, str, bool]], daemon_error: str, *, home: object
) -> Text:
    """`looked_at`: (agent, folder, whether it is there)."""
    shown = Text()
    shown.append("Nothing is captured yet.\n\n", "bold")
    if daemon_error:
        shown.append(f"! {daemon_error}: ", "bold red")
        shown.append("ultracontext daemon start\n\n", "bold")
    shown.append("To see how it looks without an agent: ")
    shown.append("ultracontext demo\n\n", "bold")
    shown.append("Looked for sessions here:\n")
    for agent, folder, there in looked_at:
        sign = "●" if there else "○"
        shown.append(f"  {sign} {agent:<12} {tilde(folder, home)}", "" if there else "dim")
        shown.append("\n" if there else "   not there\n", "dim")
    shown.append("\nStart one of these agents: its session appears at once.\n")
    return shown
