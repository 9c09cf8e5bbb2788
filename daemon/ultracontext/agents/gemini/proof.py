"""One headless turn of Gemini CLI (runs of 0.29 and 0.61, November 2026)."""

from __future__ import annotations

import json

from ultracontext.formats import Proof

_SETTINGS = {
    "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
    "general": {
        "disableAutoUpdate": True, "disableUpdateNag": True, "enableAutoUpdate": False,
        "enableAutoUpdateNotification": False, "sessionRetention": {"enabled": False},
    },
}  # fmt: skip

PROOF = Proof(
    argv=lambda session, prompt: ("--output-format", "json", "--resume", session, "-p", prompt),
    environment=lambda url: {"GOOGLE_GEMINI_BASE_URL": url, "GEMINI_API_KEY": "none"},
    files=lambda _url, _project: {"settings.json": json.dumps(_SETTINGS)},
    proxied=False,
)
