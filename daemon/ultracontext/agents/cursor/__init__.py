"""Cursor: all that we know of its transcripts, `cursor-agent`'s stores and the IDE's databases.

Written from public material (`shared/agents/cursor/FORMAT.md`), not from runs (`compat.MET`).
"""

from ultracontext.agents.cursor.assign import CursorAssigner
from ultracontext.agents.cursor.compat import COMPAT, MET
from ultracontext.agents.cursor.layout import FILES, FOLDERS, classify, roots
from ultracontext.agents.cursor.listing import listing, lookups
from ultracontext.agents.cursor.reader import CursorReader
from ultracontext.agents.cursor.tooling import TOOLING
from ultracontext.agents.cursor.writer import opening
from ultracontext.formats import AgentSpec

SPEC = AgentSpec(
    slug="cursor",
    name="Cursor",
    roots=roots,
    classify=classify,
    folders=FOLDERS,
    files=FILES,
    assigner=CursorAssigner,
    reader=CursorReader,
    lookups=lookups,
    listing=listing,
    installs=(".local/share/cursor-agent/versions",),
    described=tuple(met.version for met in MET),
    compat=COMPAT,
    opening=opening,
    tooling=TOOLING,
)

__all__ = ["SPEC"]
