"""Codex CLI: rollout files of 0.45 to 0.171, legacy and paginated."""

from ultracontext.agents.codex.assign import assigner
from ultracontext.agents.codex.layout import FILES, FOLDERS, classify, roots
from ultracontext.agents.codex.reader import Reader
from ultracontext.formats import AgentSpec

SPEC = AgentSpec(
    slug="codex",
    name="Codex",
    roots=roots,
    classify=classify,
    folders=FOLDERS,
    files=FILES,
    assigner=assigner,
    reader=Reader,
)

__all__ = ["SPEC"]
