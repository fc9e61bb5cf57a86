"""Build a wheel and an sdist as a build frontend would, with the tools and objects at hand.

    python scripts/build_wheel.py FOLDER

The wheel has compiled cores if there is a C compiler, and is for this platform and Python version. The
sdist can be installed anywhere: as pure Python where nothing can be compiled.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from setuptools import build_meta

ROOT = Path(__file__).parents[1]
QUIET = {"--global-option": ["--quiet"]}


def main() -> None:
    """Start from an empty folder: a wheel contains everything that lies in its build folder."""
    target = Path(sys.argv[1]).resolve()
    os.chdir(ROOT)
    for stale in (target, *Path("build").glob("lib*"), *Path("build").glob("bdist.*")):
        shutil.rmtree(stale, ignore_errors=True)
    target.mkdir(parents=True)
    sys.dont_write_bytecode = False  # setuptools would warn
    # Sources that do not compile are an error; a machine without a compiler is not.
    os.environ["BEFOREHAND_STRICT"] = "1"
    sdist = build_meta.build_sdist(str(target), QUIET)
    wheel = build_meta.build_wheel(str(target), QUIET)
    for name in (wheel, sdist):
        print(f"{(target / name).stat().st_size / 2**20:6.1f} MiB  {target / name}")


if __name__ == "__main__":
    main()
