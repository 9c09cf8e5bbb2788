"""Claude Code: all that we know of its session files.

Written from runs of the programs 2.1.332, 2.0.77 and 1.0.128 (`compat.MET`).
"""

from ultracontext.agents.claude.assign import ClaudeAssigner
from ultracontext.agents.claude.layout import classify, roots
from ultracontext.agents.claude.lineage import relate
from ultracontext.agents.claude.reader import ClaudeReader
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
)

__all__ = ["SPEC"]
