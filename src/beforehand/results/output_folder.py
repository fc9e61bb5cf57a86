"""Whether a folder for output can exist, asked before hours of work rather than after."""

import os
from pathlib import Path

from beforehand.errors import PipelineError, ResourceError


def check_folder(folder: Path) -> None:
    """Raise an error unless the folder exists or can be made, and may be written to."""
    existing = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not existing.is_dir():
        raise PipelineError(f"{existing} is a file; choose a folder for `out`")
    if not os.access(existing, os.W_OK | os.X_OK):
        raise ResourceError(f"{existing}: no permission to write; choose another folder for `out`")
