"""Codex CLI: rollout files of 0.45 to 0.171, legacy and paginated."""

from ultracontext.agents.codex.assign import assigner
from ultracontext.agents.codex.compat import COMPAT, EVIDENCE
from ultracontext.agents.codex.demo import DEMO
from ultracontext.agents.codex.extras import extras, summarises
from ultracontext.agents.codex.layout import FILES, FOLDERS, classify, roots
from ultracontext.agents.codex.listing import listing, lookups
from ultracontext.agents.codex.proof import PROOF
from ultracontext.agents.codex.reader import Reader, folder_of
from ultracontext.agents.codex.tooling import TOOLING
from ultracontext.agents.codex.writer import CodexWriter
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
    demo=DEMO,
    folder_of=folder_of,
    lookups=lookups,
    listing=listing,
    packages=("@openai/codex",),
    versions=tuple(seen.version for seen in EVIDENCE),
    writer=CodexWriter,
    compat=COMPAT,
    extras=extras,
    summarises=summarises,
    proof=PROOF,
    opening=lambda prompt: ("codex", prompt),
    tooling=TOOLING,
)

__all__ = ["SPEC"]
