"""Entries of released data sets: a JSON array (streamed) or JSON Lines, plain or compressed."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple, TypeVar

import ijson
import msgspec

from calibrag.collections.files import open_binary
from calibrag.errors import InputError

T = TypeVar("T")

_FIRST_KEY = re.compile(rb'\s*\{\s*"((?:[^"\\]|\\.)*)"\s*:')


class Place(NamedTuple):
    """Where an entry stands: in a line (from 1), or as the n-th item (from 1) of an array."""

    file: str
    line: int | None
    item: int | None

    def error(self, problem: str, field: str | None = None) -> InputError:
        """Return an error about the entry."""
        if self.item is not None:
            field = f"[{self.item - 1}]" + (f".{field}" if field else "")
        return InputError(self.file, problem, self.line, field)


def read_entries(path: str, kind: type[T]) -> Iterator[tuple[Place, T]]:
    """Yield each entry with its place.

    Raises
    ------
    InputError
        The file is missing, cut off or damaged, is no JSON, or an entry lacks a field of ``kind`` or has another type.
    """
    with open_binary(path) as stream:
        is_array = stream.peek(1).lstrip().startswith(b"[")
        entries = _parsed(path, ijson.items(stream, "item", use_float=True)) if is_array else _lines(path, stream)
        for place, value in entries:
            yield place, _converted(place, value, kind, is_array)


def is_keyed(path: str, fields: Collection[str]) -> bool:
    """Return whether a file is one JSON object of entries: its first key is none of an entry's fields."""
    with open_binary(path) as stream:
        found = _FIRST_KEY.match(stream.peek(1))
    return found is not None and found[1].decode("utf-8", "replace") not in fields


def read_keyed(path: str, kind: type[T]) -> Iterator[tuple[Place, str, T]]:
    """Yield (place, key, entry) of a JSON object of entries, in a stream; errors as of ``read_entries``."""
    with open_binary(path) as stream:
        for place, (key, value) in _parsed(path, ijson.kvitems(stream, "", use_float=True)):
            yield place, key, _converted(place, value, kind, parsed=True)


def _converted(place: Place, value, kind: type[T], parsed: bool) -> T:
    try:
        return msgspec.convert(value, kind) if parsed else msgspec.json.decode(value, type=kind)
    except msgspec.ValidationError as error:
        problem, _, field = str(error).partition(" - at `$")
        raise place.error(problem, field.strip("`").lstrip(".") or None) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise place.error(f"not a line of JSON ({error})") from None


def _parsed(path: str, values: Iterator[T]) -> Iterator[tuple[Place, T]]:
    number = 0
    try:
        for number, value in enumerate(values, start=1):
            yield Place(path, None, number), value
    except (ijson.JSONError, UnicodeDecodeError) as error:
        problem = " ".join(str(error).split())
        raise InputError(path, f"no JSON after item {number} ({problem})", field=f"[{number}]") from None


def _lines(path: str, stream) -> Iterator[tuple[Place, bytes]]:
    for number, line in enumerate(stream, start=1):
        if line.strip():
            yield Place(path, number, None), line
