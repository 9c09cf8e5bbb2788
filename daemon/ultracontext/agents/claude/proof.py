"""One headless turn of Claude Code (runs of 2.0.77 and 2.1.332, November 2026)."""

from __future__ import annotations

from ultracontext.formats import Proof

PROOF = Proof(
    argv=lambda session, prompt: ("-p", prompt, "--output-format", "json", "--resume", session),
    environment=lambda url: {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "none",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_MAX_RETRIES": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_AUTO_COMPACT": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "DISABLE_TELEMETRY": "1",
    },
)
