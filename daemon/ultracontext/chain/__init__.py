"""Pure rules over nodes: what a version shows, what a chain of digests proves."""

from ultracontext.chain.digest import DIGEST_BYTES, content_digest, link

__all__ = ["DIGEST_BYTES", "content_digest", "link"]
