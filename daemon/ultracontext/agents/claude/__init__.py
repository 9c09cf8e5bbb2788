"""Claude Code: all that we know of its session files.

Written from runs of the programs 2.1.332, 2.0.77 and 1.0.128 (`compat.MET`).
"""

from ultracontext.agents.claude.assign import ClaudeAssigner
from ultracontext.agents.claude.compat import COMPAT, MET
from ultracontext.agents.claude.demo import DEMO
from ultracontext.agents.claude.extras import extras, summarises
from ultracontext.agents.claude.layout import classify, roots
from ultracontext.agents.claude.lineage import relate
from ultracontext.agents.claude.listing import listing, lookups
from ultracontext.agents.claude.proof import PROOF
from ultracontext.agents.claude.reader import ClaudeReader, folder_of
from ultracontext.agents.claude.tooling import TOOLING
from ultracontext.agents.claude.writer import ClaudeWriter
from ultracontext.formats import AgentSpec

SPEC = AgentSpec(
    slug="claude",
    name="Claude Code",
    roots=roots,
    classify=classify,
    folders=("projects",),
    assigner=ClaudeAssigner,
    reader=ClaudeReader,
    relate=relate,
    demo=DEMO,
    folder_of=folder_of,
    lookups=lookups,
    listing=listing,
    packages=("@anthropic-ai/claude-code",),
    installs=(".local/share/claude/versions", ".claude/local"),
    versions=tuple(met.version for met in MET),
    writer=ClaudeWriter,
    compat=COMPAT,
    extras=extras,
    summarises=summarises,
    proof=PROOF,
    opening=lambda prompt: ("claude", prompt),
    tooling=TOOLING,
)

__all__ = ["SPEC"]
