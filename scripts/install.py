"""Install dependencies into a virtual environment: with uv if it can be had, otherwise with pip.

    python3 scripts/install.py VENV EXTRA... [--editable]

Installs the dependencies of the named extras; with --editable, also the base dependencies and the
package itself, imported from src/. The two are separate because the package must not be reinstalled
while it runs: `make demo` installs Spark during its first part.

uv installs several times as fast as pip. It is taken from PATH or from the environment, into which it is
installed first if the package index has it.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
# Build requirements of an editable install; mypy is needed for compiling only.
BACKEND = ("setuptools", "wheel")


def requirements(extras: list[str], base: bool) -> list[str]:
    """The dependencies of some extras, in which `beforehand[other]` stands for those of another."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    optional: dict[str, list[str]] = project["project"]["optional-dependencies"]
    names = list(project["project"]["dependencies"]) if base else []
    if base:
        wanted = project["build-system"]["requires"]
        names += [name for name in wanted if re.split(r"[<>=]", name)[0] in BACKEND]
    pending = list(extras)
    for extra in pending:
        if extra not in optional:
            sys.exit(f"install: there is no extra {extra!r}; choose from {', '.join(optional)}")
        for requirement in optional[extra]:
            if match := re.fullmatch(r"beforehand\[(.*)\]", requirement):
                pending += [name for name in match[1].split(",") if name not in pending]
            else:
                names.append(requirement)
    return sorted(set(names))


class Installer:
    """uv or pip, for one environment."""

    def __init__(self, environment: Path) -> None:
        self.python = environment / "bin" / "python"
        self.pip = [str(self.python), "-m", "pip", "--disable-pip-version-check", "install", "-qq"]
        self.uv = self._find_uv(environment / "bin" / "uv")

    def _find_uv(self, own: Path) -> str | None:
        """Where uv is, after an attempt to install it; nobody has to know when that fails."""
        if program := shutil.which("uv"):
            return program
        if not own.exists():
            subprocess.run([*self.pip, "uv"], capture_output=True, check=False)
        return str(own) if own.exists() else None

    def install(self, *arguments: str) -> None:
        """Install, with pip if uv cannot; exit with the code of pip if neither can."""
        if self.uv:
            command = [self.uv, "pip", "install", "--quiet", "--python", str(self.python)]
            result = subprocess.run([*command, *arguments], capture_output=True, text=True)
            if result.returncode == 0:
                return
            reason = (result.stderr.strip() or "no reason given").splitlines()[-1].strip()
            print(f"== uv could not install this ({reason}); trying pip", flush=True)
            self.uv = None
        code = subprocess.run([*self.pip, *arguments], check=False).returncode
        if code:
            sys.exit(code)


def main() -> None:
    """Create the environment if need be, say what is installed with what, and install it."""
    parser = argparse.ArgumentParser(description="Install into a virtual environment.")
    parser.add_argument("environment", type=Path)
    parser.add_argument("extras", nargs="*")
    parser.add_argument("--editable", action="store_true")
    options = parser.parse_args()
    names = requirements(options.extras, options.editable)
    if not (options.environment / "bin" / "pip").exists():
        venv.create(options.environment, with_pip=True)
    installer = Installer(options.environment)
    package = f"beforehand[{','.join(options.extras)}]"
    what = package if options.editable else f"the dependencies of {package}"
    tool = "uv" if installer.uv else "pip"
    print(f"== installing {what} into {options.environment} with {tool}", flush=True)
    installer.install(*names)
    if options.editable:
        installer.install("--no-deps", "--no-build-isolation", "--editable", str(ROOT))


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
