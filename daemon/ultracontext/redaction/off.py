"""A redactor that masks nothing, for a person who turned masking off on a store of their own.

Its records bear rule set 0, so that they are masked as soon as masking is on again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from ultracontext.errors import RedactionError
from ultracontext.model import RawRecord
from ultracontext.redaction.boundary import Redactor
from ultracontext.redaction.engine import Candidate
from ultracontext.redaction.fingerprint import Fingerprinter
from ultracontext.redaction.frames import Frame
from ultracontext.redaction.minted import MaskedRecord
from ultracontext.redaction.scan import Scanner

NO_RULES = 0
"""The rule set of what nobody masked."""


class NoEngine:
    """Finds nothing."""

    name = "off"

    def candidates(self, data: bytes) -> list[Candidate]:
        return []


class NoScanner(Scanner):
    """Gives every string back as it is."""

    def mask(self, texts: Sequence[str], counts: Counter[str]) -> dict[int, str]:
        return {}

    def fields(
        self,
        fields: Sequence[tuple[str, str]],
        changed: Mapping[int, str],
        texts: Sequence[str],
        counts: Counter[str],
    ) -> dict[tuple[str, str], str]:
        return {}


class NoRedactor(Redactor):
    """Mints records without masking them."""

    def redact_file(
        self,
        raw: RawRecord,
        path: Path | None = None,
        *,
        frame: Frame | None = None,
        timeout_seconds: float = 0.0,
    ) -> MaskedRecord:
        """Here, in this process: there is nothing to be careful of but memory."""
        place = Path(raw.source) if path is None else path
        try:
            with place.open("rb") as file:
                file.seek(raw.start)
                data = file.read(raw.end - raw.start)
        except OSError as error:
            raise RedactionError(f"a large record cannot be read: {error.strerror}") from error
        return self.redact(
            RawRecord(
                agent=raw.agent, source=raw.source, start=raw.start, end=raw.end,
                data=data.removesuffix(b"\n"), damage=raw.damage,
            )
        )  # fmt: skip


def unmasking_redactor(secret: bytes) -> Redactor:
    """Whoever asks for it has checked that the person wants it, and that nothing leaves."""
    return NoRedactor(NoScanner((), NoEngine(), Fingerprinter(secret)), NO_RULES, secret)
