"""One headless turn of Codex (runs of 0.125 and 0.171, November 2026)."""

from __future__ import annotations

import json
from collections.abc import Mapping

from ultracontext.formats import Proof


def _files(url: str, project: str) -> Mapping[str, str]:
    text = f"""
model_provider = "proof"
approval_policy = "never"
sandbox_mode = "read-only"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.proof]
name = "Proof"
base_url = "{url}/v1"
env_key = "PROOF_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0

[projects.{json.dumps(project)}]
trust_level = "trusted"
"""
    return {"config.toml": text}


PROOF = Proof(
    argv=lambda session, prompt: (
        "exec", "--skip-git-repo-check", "--json", "resume", session, prompt,
    ),
    environment=lambda _url: {"PROOF_KEY": "none"},
    files=_files,
)  # fmt: skip
