"""NTCIR-19 R2C2: passage files to documents, topics to questions.

The task's overview does not print a grammar of its corpus files; what is read here is the syntax of its runs.
Passages: a line each, fields divided by ``;`` (or by tabs, where the first line has one), ``qID;rank;docID;text``; the
text, which comes last, may hold the separator. A first line of field names, among them ``docID`` and ``text``, says
another order: ``qID;docID;text``. All texts of one docID are one document, each text once, a section each; the docID
is its title too. Topics: ``<question><qID>0001</qID><q>...</q></question>``, one after another or inside one element; a
``<type>`` is read. Topics have no answers: passes can be run on them, answers cannot be scored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from lxml import etree

from calibrag.collections.entries import Place
from calibrag.collections.files import decode, open_binary
from calibrag.collections.identifiers import escape_id
from calibrag.collections.page import squeeze
from calibrag.collections.pooling import Pool
from calibrag.errors import InputError
from calibrag.records import Document, Question

FIELDS = ("qID", "rank", "docID", "text")

_DECLARATION = re.compile(rb"^\s*<\?xml[^>]*\?>")


def read_documents(*paths: str) -> Iterator[Document]:
    """Yield a document a docID.

    Raises
    ------
    InputError
        A file is cut off or damaged, or a line is not valid UTF-8, has too few fields or a blank docID.
    """
    pool = Pool()
    for path in paths:
        with open_binary(path) as stream:
            fields, separator = FIELDS, ";"
            for number, raw in enumerate(stream, start=1):
                try:
                    line = raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
                except UnicodeDecodeError as error:
                    raise InputError(path, f"not valid UTF-8 at byte {error.start} of the line", number) from None
                if number == 1:
                    separator = "\t" if "\t" in line else ";"
                    named = [field.strip() for field in line.split(separator)]
                    if {"docID", "text"} <= set(named) <= set(FIELDS):
                        fields = _checked(path, named)
                        continue
                if line.strip():
                    parts = line.split(separator, len(fields) - 1)
                    if len(parts) < len(fields):
                        problem = f"must have {len(fields)} fields, {separator.join(fields)!r} (got {len(parts)})"
                        raise InputError(path, problem, number)
                    entry = dict(zip(fields, map(squeeze, parts), strict=True))
                    if not entry["docID"]:
                        raise InputError(path, "must not be blank", number, "docID")
                    if entry["text"]:
                        pool.add(escape_id(entry["docID"]), entry["docID"].replace("_", " "), entry["text"])
    return pool.documents()


def read_questions(*paths: str) -> Iterator[tuple[Place, Question]]:
    """Yield each topic as a question without answers, with its place.

    Raises
    ------
    InputError
        A file is cut off, damaged, not valid UTF-8 or no well-formed XML, or a topic lacks qID or q.
    """
    for path in paths:
        with open_binary(path) as stream:
            data = stream.read()
        decode(data, path)
        data = _DECLARATION.sub(b"", data.removeprefix(b"\xef\xbb\xbf"))
        parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=True)
        try:
            # topics may stand without an element around them
            root = etree.fromstring(b"<topics>" + data + b"</topics>", parser)
        except etree.XMLSyntaxError as error:
            raise InputError(path, f"no well-formed XML ({error.msg})", error.lineno) from None
        for topic in root.iter("question"):
            place = Place(path, topic.sourceline, None)
            qid, text = (squeeze("".join(topic.find(name).itertext())) if topic.find(name) is not None else ""
                         for name in ("qID", "q"))  # fmt: skip
            for name, value in (("qID", qid), ("q", text)):
                if not value:
                    raise place.error("missing or blank", name)
            yield place, Question(qid=qid, text=text, type=squeeze(topic.findtext("type") or "") or None, answers=[])


def _checked(path: str, named: Sequence[str]) -> Sequence[str]:
    if len(set(named)) < len(named):
        raise InputError(path, f"a field name must not be repeated (got {', '.join(named)})", 1)
    return named
