"""The way to unmasked records: the only importer of `redaction.unmasked`.

Whoever calls it has asked the person, and writes ledger and audit.
"""

from __future__ import annotations

from pathlib import Path

from ultracontext.errors import WriteRefusedError
from ultracontext.redaction import Redactor, load_secret
from ultracontext.redaction.unmasked import unmasked


def open_redactor(secret_file: Path) -> Redactor:
    """A redactor that masks nothing."""
    return unmasked(load_secret(secret_file))


def require(*, asked: bool, agreed: bool) -> None:
    """Raises WriteRefusedError unless the person agreed, at the terminal or by --yes."""
    if not agreed:
        hint = "Say yes to go on" if asked else "Add --yes to go on without being asked"
        raise WriteRefusedError(
            "the session would be written with its secrets unmasked", code="consent", hint=hint
        )
