"""Pure rules over nodes: what a version shows, what a chain of digests proves."""

from ultracontext.chain.digest import DIGEST_BYTES, content_digest, link
from ultracontext.chain.remask import Remask, birth_digest, first_break, remask_link

__all__ = [
    "DIGEST_BYTES",
    "Remask",
    "birth_digest",
    "content_digest",
    "first_break",
    "link",
    "remask_link",
]
