"""Masking: the only way from a raw record to a masked one.

The entries: `Redactor.redact` and `sequence` for records, `redact_any` for one whose bytes may be
left in a file, `document` for a text that leaves (`MaskedText`), `value` for the JSON content of a
message, `text` for a path, a branch or an error text. Writers and doors take `MaskedRecord`s and
`MaskedText`s and check them by `require_masked` and `require_masked_text`.
"""

from ultracontext.redaction.boundary import Redactor
from ultracontext.redaction.fingerprint import load_secret, without_fingerprints
from ultracontext.redaction.frames import Frame
from ultracontext.redaction.loading import load_redactor
from ultracontext.redaction.minted import (
    MaskedRecord,
    MaskedText,
    require_masked,
    require_masked_text,
)
from ultracontext.redaction.parse import dump_json, load_json
from ultracontext.redaction.slim import Part, join_parts

__all__ = [
    "Frame",
    "MaskedRecord",
    "MaskedText",
    "Part",
    "Redactor",
    "dump_json",
    "join_parts",
    "load_json",
    "load_redactor",
    "load_secret",
    "require_masked",
    "require_masked_text",
    "without_fingerprints",
]
