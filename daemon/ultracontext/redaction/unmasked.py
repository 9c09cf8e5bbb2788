"""The second mint: records as their agent wrote them, for a person who asked for it.

Importable by `switch/` only (a test holds it), behind consent and an entry in the audit log.
"""

from __future__ import annotations

from ultracontext.redaction.boundary import Redactor
from ultracontext.redaction.off import unmasking_redactor


def unmasked(secret: bytes) -> Redactor:
    """A redactor that masks nothing. Its records bear rule set 0."""
    return unmasking_redactor(secret)
