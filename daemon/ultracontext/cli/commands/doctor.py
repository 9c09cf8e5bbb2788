"""`doctor`: what is wrong here, and its repair. Exit 1 when a finding is an error."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ultracontext.cli import output
from ultracontext.cli.group import command_app
from ultracontext.cli.workspace import Workspace, workspace
from ultracontext.errors import UltraContextError

if TYPE_CHECKING:
    from ultracontext.cli.checks import Finding

app = command_app()


@app.command()
def doctor(
    fix: Annotated[bool, typer.Option("--fix", help="Apply the repairs that are safe.")] = False,
    bundle: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write an archive for a report (.zip), without texts."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> int:
    """Looks at everything that UltraContext stands on."""
    from ultracontext.cli.checks import ERROR, all_findings

    place = workspace()
    findings = all_findings(place)
    if fix:
        repaired = [_repaired(finding) for finding in findings if finding.fix is not None]
        if not json:
            for line in repaired:
                output.note(line)
        findings = all_findings(_anew(place))
    if bundle is not None:
        from ultracontext.cli.bundle import write_bundle

        write_bundle(place, findings, bundle)
    if json:
        output.write_json({"findings": [finding.as_json() for finding in findings]})
    else:
        _print(findings)
        if bundle is not None:
            output.note(f"Wrote {bundle}. It holds no session text; look through it anyway.")
    return 1 if any(finding.level == ERROR for finding in findings) else 0


def _anew(place: Workspace) -> Workspace:
    """What was read of the settings may have been repaired."""
    return Workspace(env=place.env, home=place.home)


def _repaired(finding: Finding) -> str:
    assert finding.fix is not None  # noqa: S101  # the caller chose those
    try:
        finding.fix()
    except UltraContextError as error:
        return output.one_line(f"Not repaired: {finding.code}: {error.message}. {error.hint}")
    return f"Repaired: {finding.code}"


def _print(findings: list[Finding]) -> None:
    for finding in findings:
        output.write(output.one_line(f"{finding.level:<8} {finding.code}: {finding.message}."))
        if finding.repair:
            output.write(output.one_line(finding.repair).rstrip(".").join(("         ", ".")))
    if any(finding.fix is not None for finding in findings):
        output.note("`ultracontext doctor --fix` repairs some of it.")
    if not findings:
        output.write("Nothing is wrong.")
