from __future__ import annotations

from pathlib import Path

import pytest
from switch_lab import Lab


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(base=tmp_path)
