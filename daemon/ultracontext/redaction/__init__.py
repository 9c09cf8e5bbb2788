"""Masking: the only way from a raw record to a masked one."""

from ultracontext.redaction.boundary import Redactor
from ultracontext.redaction.fingerprint import load_secret, without_fingerprints
from ultracontext.redaction.loading import load_redactor
from ultracontext.redaction.minted import MaskedRecord, require_masked
from ultracontext.redaction.parse import dump_json, load_json
from ultracontext.redaction.slim import Part, join_parts

__all__ = [
    "MaskedRecord",
    "Part",
    "Redactor",
    "dump_json",
    "join_parts",
    "load_json",
    "load_redactor",
    "load_secret",
    "require_masked",
    "without_fingerprints",
]
