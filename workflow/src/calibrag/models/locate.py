"""Where a model named in the configuration lies."""

from __future__ import annotations

import hashlib
from importlib.util import find_spec
from pathlib import Path

from calibrag.errors import MissingModelError

PACKAGE_PREFIX = "package:"

_CHUNK_BYTES = 1 << 20


def locate(name: str) -> str:
    """Return a local path, or the name itself where it is that of a model on a hub.

    Parameters
    ----------
    name
        ``package:NAME/PATH`` (a file or folder inside an installed Python package), a path of this machine
        (it starts with ``/``, ``./``, ``../`` or ``~``, or exists), or a name on the Hugging Face hub.

    Raises
    ------
    MissingModelError
        The package is not installed, or holds no such path, or the path does not exist.
    """
    if name.startswith(PACKAGE_PREFIX):
        return _inside_package(name)
    path = Path(name).expanduser()
    if path.exists():
        return str(path)
    if name.startswith(("/", "./", "../", "~")):
        raise MissingModelError(f"model {name}: no such path; correct the name in config.yaml or put the model there")
    return name


def check_sha256(file: str | Path, expected: str) -> None:
    """Raise unless the file has this SHA-256.

    Raises
    ------
    MissingModelError
        The file is absent, or its hash is another: the results would come from another model.
    """
    path = Path(file)
    if not path.is_file():
        raise MissingModelError(
            f"model file {path}: not there, so its hash cannot be checked; a hash in config.yaml wants a model that is"
            " on this machine (a package or a path); remove the hash for a model of a hub"
        )
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK_BYTES):
            digest.update(chunk)
    if digest.hexdigest() != expected.lower():
        raise MissingModelError(
            f"model file {path}: SHA-256 must be {expected} (got {digest.hexdigest()}); install the version that the"
            " lock file pins, or set the new hash in config.yaml if the other model is meant"
        )


def _inside_package(name: str) -> str:
    package, _, inner = name.removeprefix(PACKAGE_PREFIX).partition("/")
    # found, not imported: a package that carries weights may want other packages to run, which are not needed here
    try:
        spec = find_spec(package)
    except (ModuleNotFoundError, ValueError):  # a dotted or an empty name
        spec = None
    if spec is None or not spec.submodule_search_locations:
        distribution = package.replace("_", "-")
        raise MissingModelError(
            f"model {name}: the Python package {package} is not installed; run `pip install {distribution}`"
            " (requirements.txt pins its version), or name another model in config.yaml"
        )
    root = Path(next(iter(spec.submodule_search_locations)))
    path = root / inner
    if not path.exists():
        raise MissingModelError(
            f"model {name}: the package {package} is installed, but holds no {inner}; found there:"
            f" {', '.join(sorted(child.name for child in root.iterdir()))}"
        )
    return str(path)
