"""Gemini CLI: all that we know of its session files.

Written from runs of the programs 0.24.5, 0.29.0 and 0.61.0 (`compat.MET`).
"""

from ultracontext.agents.gemini.assign import GeminiAssigner
from ultracontext.agents.gemini.compat import COMPAT, MET
from ultracontext.agents.gemini.extras import extras, summarises
from ultracontext.agents.gemini.layout import classify, roots
from ultracontext.agents.gemini.lineage import relate
from ultracontext.agents.gemini.listing import listing, lookups
from ultracontext.agents.gemini.proof import PROOF
from ultracontext.agents.gemini.reader import GeminiReader
from ultracontext.agents.gemini.tooling import TOOLING
from ultracontext.agents.gemini.writer import GeminiWriter, opening
from ultracontext.formats import AgentSpec

SPEC = AgentSpec(
    slug="gemini",
    name="Gemini CLI",
    roots=roots,
    classify=classify,
    folders=("tmp",),
    assigner=GeminiAssigner,
    reader=GeminiReader,
    relate=relate,
    lookups=lookups,
    listing=listing,
    packages=("@google/gemini-cli",),
    versions=tuple(met.version for met in MET),
    writer=GeminiWriter,
    compat=COMPAT,
    extras=extras,
    summarises=summarises,
    proof=PROOF,
    opening=opening,
    tooling=TOOLING,
)

__all__ = ["SPEC"]
