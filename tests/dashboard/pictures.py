"""Pictures of the screens for the README: `.venv/bin/python tests/dashboard/pictures.py`.

They are written to `.github/pictures/NAME.svg`, of a made-up person's sessions."""

from __future__ import annotations

import asyncio
import os
import re
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / ".github" / "pictures"
SIZE = (120, 32)
NAMES = ("home", "session", "switch", "health", "search", "secrets")


async def picture(home: Path, name: str) -> str:
    """One scene as SVG."""
    from tests.dashboard.answers import Answering
    from tests.dashboard.conftest import dashboard
    from tests.dashboard.scenes import SCENES, pinned

    answering = Answering(home.parent / f"program-{name}")
    app = dashboard(home, program=answering.program)
    with pinned(app):
        async with app.run_test(size=SIZE) as pilot:
            await SCENES[name](pilot, app)
            return app.export_screenshot(title="ultracontext")


def smaller(svg: str) -> str:
    """The same with a name for its parts that does not change from run to run."""
    return re.sub(r"\bterminal-\d+-", "t-", svg)


def main() -> None:
    sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "support")]
    os.environ["TZ"] = "UTC"
    time.tzset()
    from blackbox import Home
    from tests.dashboard.conftest import capture

    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder) / "dev")
        capture(home)
        for name in NAMES:
            path = FOLDER / f"{name}.svg"
            path.write_text(smaller(asyncio.run(picture(home.folder, name))))
            sys.stdout.write(f"{path.relative_to(ROOT)}: {path.stat().st_size // 1000} kB\n")


if __name__ == "__main__":
    main()
