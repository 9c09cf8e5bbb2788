"""OpenClaw: all that we know of its sessions, in files (2026.7) and in SQLite (2026.8 and later).

Written from runs of the programs 2026.7.35 and 2026.9.6 (`compat.MET`).
"""

from ultracontext.agents.openclaw.assign import OpenClawAssigner
from ultracontext.agents.openclaw.compat import COMPAT, MET
from ultracontext.agents.openclaw.extras import extras, summarises
from ultracontext.agents.openclaw.layout import classify, roots
from ultracontext.agents.openclaw.lineage import relate
from ultracontext.agents.openclaw.listing import listing, lookups
from ultracontext.agents.openclaw.proof import PROOF
from ultracontext.agents.openclaw.reader import OpenClawReader, folder_of
from ultracontext.agents.openclaw.tooling import TOOLING
from ultracontext.agents.openclaw.writer import OpenClawWriter, opening
from ultracontext.formats import AgentSpec

SPEC = AgentSpec(
    slug="openclaw",
    name="OpenClaw",
    roots=roots,
    classify=classify,
    folders=("agents",),
    assigner=OpenClawAssigner,
    reader=OpenClawReader,
    relate=relate,
    folder_of=folder_of,
    lookups=lookups,
    listing=listing,
    packages=("openclaw",),
    versions=tuple(met.version for met in MET),
    writer=OpenClawWriter,
    compat=COMPAT,
    extras=extras,
    summarises=summarises,
    proof=PROOF,
    opening=opening,
    tooling=TOOLING,
)

__all__ = ["SPEC"]
