"""Prompts as files: Markdown with declared placeholders.

The first line declares what is filled in, ``placeholders: title, passages``; a line ``## system`` or ``## user`` begins
a message; ``{{title}}`` is where a value goes. Values are data: what looks like a placeholder in them stays as it is.
"""

from __future__ import annotations

import re
from pathlib import Path

from calibrag.errors import InputError
from calibrag.models.chat.seam import Message

_DECLARED = re.compile(r"placeholders:\s*(\w+(?:,\s*\w+)*)?\s*")
_HEADING = re.compile(r"^## (system|user|assistant)\s*$", re.M)
_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")


class Prompt:
    """A prompt to be filled in; ``placeholders`` are the names that it wants, all of them.

    Raises
    ------
    InputError
        The file declares nothing, uses a placeholder that it does not declare or does not use one that it declares, or
        has no message.
    """

    def __init__(self, path: str | Path):
        declaration, _, body = Path(path).read_text(encoding="utf-8").partition("\n")
        declared = _DECLARED.fullmatch(declaration)
        if declared is None:
            problem = f"must be 'placeholders: name, name' (got {declaration!r})"
            raise InputError(path, problem, 1)
        self.placeholders = set(re.findall(r"\w+", declared[1] or ""))
        used = set(_PLACEHOLDER.findall(body))
        if used != self.placeholders:
            odd = ", ".join(sorted(used ^ self.placeholders))
            raise InputError(path, f"placeholders declared on line 1 and those used must be the same (not so: {odd})")
        before, *parts = _HEADING.split(body)
        if before.strip() or not parts:
            raise InputError(path, "must begin a message with a line '## system' or '## user' after line 1")
        self._messages = list(zip(parts[::2], parts[1::2], strict=True))

    def fill(self, **values: str) -> list[Message]:
        """Return the messages with the values in their places.

        Raises
        ------
        ValueError
            The values are not those that the prompt declares.
        """
        if values.keys() != self.placeholders:
            raise ValueError(f"must fill {sorted(self.placeholders)} (got {sorted(values)})")
        return [
            Message(role=role, content=_PLACEHOLDER.sub(lambda place: values[place[1]], text).strip())
            for role, text in self._messages
        ]
