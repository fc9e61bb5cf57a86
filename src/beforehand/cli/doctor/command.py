"""`beforehand doctor`: whether this machine has what beforehand needs."""

import sys
from dataclasses import asdict

import typer

from beforehand.cli import options as shared
from beforehand.cli.doctor.diagnosis import Diagnosis
from beforehand.cli.ui.exit_codes import ExitCode
from beforehand.cli.ui.output import print_json, print_table, print_text

COLUMNS = ("what", "state", "found")


def command(as_json: shared.Json = False) -> None:
    """Examine this machine: what is installed, what is missing or limited, and what that costs.

    Nothing is changed. Exits with 0 if the base install works, even without any extra, and with 3 if
    not.
    """
    from beforehand.cli.doctor import installation, system

    diagnoses = [*installation.diagnoses(), *system.diagnoses()]
    broken = [diagnosis for diagnosis in diagnoses if diagnosis.state == "broken"]
    if as_json:
        print_json(
            {
                "python": sys.executable,
                "works": not broken,
                "diagnoses": list(map(asdict, diagnoses)),
            }
        )
    else:
        _show(diagnoses)
    if broken:
        raise typer.Exit(ExitCode.MACHINE)


def _show(diagnoses: list[Diagnosis]) -> None:
    print_table(COLUMNS, [(f.name, f.state, f.detail) for f in diagnoses])
    lacking = [diagnosis for diagnosis in diagnoses if diagnosis.state != "ok"]
    for diagnosis in lacking:
        print_text(f"{diagnosis.name}: {diagnosis.cost}. What helps: {diagnosis.remedy}.")
    if any(diagnosis.state == "broken" for diagnosis in lacking):
        print_text("The base install does not work on this machine.")
    elif lacking:
        print_text("The base install works; the lines above cost what they say.")
    else:
        print_text("Everything works.")
