"""Plain text to documents: a file each, named by it; a blank line ends a paragraph."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from calibrag.collections.files import decode, members, name_of, title_of
from calibrag.collections.identifiers import title_to_id
from calibrag.collections.page import squeeze
from calibrag.collections.pooling import Gathered
from calibrag.records import Document, Section, TextBlock

SUFFIXES = (".txt", ".text")
_BLANK_LINES = re.compile(r"(?:\r?\n[^\S\n]*){2,}|\f")


def read_documents(*paths: str) -> Iterator[Document]:
    """Yield a document for each file of a folder or tar, or for the one file; a blank one is left out and counted.

    Raises
    ------
    InputError
        A file is cut off, damaged or not valid UTF-8.
    """
    gathered = Gathered()
    for member in chain.from_iterable(members(path, SUFFIXES) for path in paths):
        text = decode(member.data, member.place)
        blocks = [TextBlock(text=line) for paragraph in _BLANK_LINES.split(text) if (line := squeeze(paragraph))]
        if blocks:
            doc_id = gathered.claim(title_to_id(name_of(member)), member.place, member.name)
            yield Document(doc_id=doc_id, title=title_of(member), sections=[Section(blocks=blocks)])
        else:
            gathered.leave_out("files without text", member.place)
    gathered.report()
