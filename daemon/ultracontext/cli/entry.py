"""The console script: imports the program with the quiet, immediate Ctrl-C of any other tool."""

from __future__ import annotations

import signal


def main() -> None:
    """Runs `cli.main`; an interrupt before and after it ends the process without a trace."""
    ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # else: ignored, as asked
    if ours:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from ultracontext.cli import main as program

    if ours:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        program.main()
    finally:
        if ours:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
