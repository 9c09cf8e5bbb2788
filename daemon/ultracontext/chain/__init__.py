"""Pure rules over nodes: what a version shows, what a chain of digests proves."""

from ultracontext.chain.digest import DIGEST_BYTES, content_digest, link
from ultracontext.chain.edit import (
    body_of,
    dump_json,
    load_json,
    members,
    merged,
    object_text,
    parts_of,
)
from ultracontext.chain.read import BUCKET, Places, Window, shown, window
from ultracontext.chain.remask import Remask, birth_digest, first_break, remask_link
from ultracontext.chain.verify import HeadFacts, RowChain, Seal, borne_out, head_link

__all__ = [
    "BUCKET",
    "DIGEST_BYTES",
    "HeadFacts",
    "Places",
    "Remask",
    "RowChain",
    "Seal",
    "Window",
    "birth_digest",
    "body_of",
    "borne_out",
    "content_digest",
    "dump_json",
    "first_break",
    "head_link",
    "link",
    "load_json",
    "members",
    "merged",
    "object_text",
    "parts_of",
    "remask_link",
    "shown",
    "window",
]
