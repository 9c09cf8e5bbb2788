"""The official SDKs drive our server unmodified, through every method and every fault."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from official_sdks import JAVASCRIPT, SCRIPTS, javascript, node, python, run

pytestmark = pytest.mark.timeout(400)


def test_python_with_ours(env: dict[str, str]) -> None:
    """The same driver: our SDK is a drop-in."""
    package = Path(sys.modules["ultracontext"].__file__ or "").parents[1]
    command = [sys.executable, "-P", str(SCRIPTS / "python_methods.py")]
    found = run(command, {**env, "PYTHONPATH": str(package)})
    assert found["seen"] >= 110
    assert Path(found["file"]).is_relative_to(package)


@pytest.mark.full
def test_python(env: dict[str, str]) -> None:
    program = python()
    found = run([str(program), "-P", str(SCRIPTS / "python_methods.py")], env)
    assert found["seen"] >= 110
    assert "site-packages" in found["file"]


@pytest.mark.full
@pytest.mark.parametrize("version", JAVASCRIPT)
def test_javascript(env: dict[str, str], version: str) -> None:
    place = javascript(version)
    script = str(SCRIPTS / "javascript_methods.mjs")
    found = run([node(version), script], {**env, "UC_SDK": str(place)})
    assert found["newer"] is (version == "1.6.0")
    assert found["seen"] == (39 if found["newer"] else 29)
