"""Whether Cursor lists a conversation (FORMAT.md, from public material; nothing was run).

The IDE lists what `composer.composerHeaders` names and does not call archived (3.x; older ones keep
their lists by workspace), `cursor-agent` what has a `store.db`. A transcript alone opens nowhere.
Cursor is not known to delete conversations by age.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

from ultracontext.formats import Listing, ListingFacts, Lookup, SourceFacts

ROW, HEADERS, HEADER = "row", "headers", "header"
_ROW = "SELECT 1 FROM cursorDiskKV WHERE key = 'composerData:' || :session_id"
_HEADERS = "SELECT 1 FROM ItemTable WHERE key = 'composer.composerHeaders'"
_HEADER = """
SELECT json_extract(h.value, '$.isArchived')
FROM ItemTable i, json_each(CAST(i.value AS TEXT), '$.allComposers') h
WHERE i.key = 'composer.composerHeaders' AND json_extract(h.value, '$.composerId') = :session_id
"""


def lookups(source: SourceFacts, path: PurePosixPath) -> Sequence[Lookup]:
    if source.role != "global":
        return ()
    asked = ((ROW, _ROW), (HEADERS, _HEADERS), (HEADER, _HEADER))
    return [Lookup(name=name, path=str(path), sql=sql) for name, sql in asked]


def listing(asked: ListingFacts) -> Listing:
    if asked.source.role == "transcript":
        return Listing(hidden="only its transcript is there, which Cursor does not open")
    if asked.source.role != "global":
        return Listing()
    if asked.found.get(ROW) == []:
        return Listing(gone=True)
    header = asked.found.get(HEADER)
    if header:
        return Listing(hidden="Cursor holds it as archived" if header[0][0] else None)
    missing = header is not None and bool(asked.found.get(HEADERS))
    return Listing(hidden="the IDE's list does not hold it" if missing else None)
