"""Files that a collection lies in: single files, folders and archives, read in a stream, strictly.

What is cut off, damaged or not valid in its encoding is refused with the file, and the member of an archive.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import re
import tarfile
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import BinaryIO, NamedTuple
from urllib.parse import unquote

from calibrag.errors import InputError

UNREADABLE = (OSError, EOFError, lzma.LZMAError, zlib.error, tarfile.TarError)
"""What damaged files raise while they are read."""

_OPENERS = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_DRAIN = 1 << 20
_DECLARED = re.compile(
    rb"""<meta[^>]{0,200}charset\s*=\s*["']?\s*([\w.:-]+)|^<\?xml[^>]{0,100}encoding=["']([\w.-]+)""", re.I
)
_HEAD = 4096


class Member(NamedTuple):
    """One page: ``place`` is what an error names, ``name`` its path inside the folder or archive."""

    place: str
    name: str
    data: bytes


@contextmanager
def open_binary(path: str | Path) -> Iterator[BinaryIO]:
    """Open a file for reading bytes; ``.gz``, ``.bz2`` and ``.xz`` are decompressed.

    Raises
    ------
    InputError
        There is no such file, or reading it inside the block fails: it is cut off or damaged.
    """
    try:
        with _OPENERS.get(Path(path).suffix, open)(path, "rb") as stream:
            yield stream
    except FileNotFoundError:
        raise InputError(path, "no such file; correct the path in config.yaml or put the file there") from None
    except IsADirectoryError:
        raise InputError(path, "is a folder, and this format takes a file; correct path or format") from None
    except UNREADABLE as error:
        raise InputError(path, f"unreadable: cut off or damaged ({error or type(error).__name__})") from error


def members(path: str, suffixes: Collection[str]) -> Iterator[Member]:
    """Yield the files of a folder (by name), of a tar (in its order; it may be compressed), or the one file.

    Parameters
    ----------
    suffixes
        Files of a folder or tar with another suffix, compression aside, are passed over; hidden ones too.

    Raises
    ------
    InputError
        A file is missing, cut off or damaged; or there is none with such a suffix, or the one file has another.
    """
    found = False
    for member in _all_members(Path(path), suffixes):
        found = True
        yield member
    if not found:
        raise InputError(path, f"holds no file that ends in {', '.join(suffixes)}")


def name_of(member: Member) -> str:
    """Return the path of a member without its suffix, %-escapes read, ``_`` as a space: what tells it from others."""
    path = PurePosixPath(member.name)
    path = path.with_suffix("") if path.suffix in _OPENERS else path
    return " ".join(unquote(path.with_suffix("").as_posix()).replace("_", " ").split())


def title_of(member: Member) -> str:
    """Return the title in a member's file name."""
    return name_of(member).rpartition("/")[2]


def decode(data: bytes, place: str, encoding: str = "utf-8") -> str:
    """Return text.

    Raises
    ------
    InputError
        The bytes are not valid in this encoding; names the offset of the first that is not.
    """
    try:
        return data.decode("utf-8-sig" if encoding == "utf-8" else encoding)
    except LookupError:
        raise InputError(place, f"declares an encoding that does not exist ({encoding!r})") from None
    except UnicodeDecodeError as error:
        found = data[error.start : error.start + 1].hex()
        raise InputError(
            place, f"not valid {encoding} at byte {error.start} (0x{found}); convert it to UTF-8"
        ) from None


def declared_encoding(data: bytes) -> str:
    """Return the encoding that a page names for itself in its first 4,096 bytes; UTF-8 where it names none."""
    found = _DECLARED.search(data[:_HEAD])
    name = (found[1] or found[2]).decode("ascii").lower() if found else "utf-8"
    # browsers read these as Windows-1252 (WHATWG encoding standard)
    return {"utf8": "utf-8", "iso-8859-1": "cp1252", "latin1": "cp1252", "us-ascii": "cp1252"}.get(name, name)


def _all_members(path: Path, suffixes: Collection[str]) -> Iterator[Member]:
    if path.is_dir():
        for file in sorted(_files_below(path), key=lambda file: file.as_posix()):
            if _wanted(file.name, suffixes):
                with open_binary(file) as stream:
                    data = stream.read()
                yield Member(str(file), file.relative_to(path).as_posix(), data)
    elif ".tar" in path.suffixes[-2:] or path.suffix in (".tgz", ".txz"):
        yield from _tar_members(path, suffixes)
    elif _wanted(path.name, suffixes) or not path.exists():
        with open_binary(path) as stream:
            data = stream.read()
        yield Member(str(path), path.name, data)
    else:
        raise InputError(path, f"must end in {', '.join(suffixes)}; rename it, or correct its format in config.yaml")


def _files_below(folder: Path) -> Iterator[Path]:
    for parent, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield from (Path(parent, name) for name in files)


def _wanted(name: str, suffixes: Collection[str]) -> bool:
    file = PurePosixPath(name)
    suffix = file.with_suffix("").suffix if file.suffix in _OPENERS else file.suffix
    return suffix.lower() in suffixes and not file.name.startswith(".")


class _StrictHeader(tarfile.TarInfo):
    """A member's header; Python would take a damaged one, or a missing end, for the archive's end."""

    @classmethod
    def fromtarfile(cls, archive: tarfile.TarFile) -> tarfile.TarInfo:
        try:
            return super().fromtarfile(archive)
        except tarfile.EOFHeaderError:
            raise
        except tarfile.HeaderError as error:
            raise tarfile.ReadError(str(error)) from error


def _tar_members(path: Path, suffixes: Collection[str]) -> Iterator[Member]:
    last = "the start"
    plain = path.with_suffix({".tgz": ".gz", ".txz": ".xz"}.get(path.suffix, path.suffix))
    opener = _OPENERS.get(plain.suffix, open)
    try:
        # decompressed here, not by tarfile, so that checksums are checked
        with opener(path, "rb") as stream:
            with tarfile.open(fileobj=stream, mode="r|", tarinfo=_StrictHeader) as archive:
                for entry in archive:
                    if entry.isfile() and _wanted(entry.name, suffixes):
                        data = archive.extractfile(entry).read()
                        yield Member(f"{path}: {entry.name}", entry.name, data)
                    last = entry.name
                    archive.members.clear()  # tarfile keeps the header of every member
            while stream.read(_DRAIN):
                pass
    except FileNotFoundError:
        raise InputError(path, "no such file; correct the path in config.yaml or put the file there") from None
    except UNREADABLE as error:
        problem = f"unreadable after {last}: cut off or damaged ({error or type(error).__name__})"
        raise InputError(path, problem) from error
