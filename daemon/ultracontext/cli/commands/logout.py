"""`logout`, see `login`."""

from ultracontext.cli.commands.login import leaving as app

__all__ = ["app"]
