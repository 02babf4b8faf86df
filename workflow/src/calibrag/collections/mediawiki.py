"""MediaWiki wikitext to documents: an export of a wiki (the dump's XML), or files of wikitext.

Of an export, the articles (namespace 0) are taken; redirects, other namespaces and pages without text are left out
and counted. Of files (``.wiki``, ``.wikitext``, ``.mediawiki``, ``.txt``), each is a page, named by its file. See
``wikitext`` for what of a page is kept.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from lxml import etree

from calibrag.collections.files import decode, members, name_of, open_binary, title_of
from calibrag.collections.identifiers import title_to_id
from calibrag.collections.pooling import Gathered
from calibrag.collections.wikinames import REDIRECT
from calibrag.collections.wikitext import read_sections
from calibrag.errors import InputError
from calibrag.records import Document

SUFFIXES = (".wiki", ".wikitext", ".mediawiki", ".txt")

_LOG = logging.getLogger(__name__)
# parts of Wikipedia's own dumps are called .xml-p1p41242.bz2
_XML = re.compile(r"\.xml(-p\d+p\d+)?(\.(gz|bz2|xz))?$", re.I)
_WIKITEXT = ("", "wikitext")
_NAMED = 20


def read_documents(*paths: str) -> Iterator[Document]:
    """Yield a document for each article.

    Raises
    ------
    InputError
        The export is no well-formed XML, a file is cut off, damaged or not valid UTF-8, or two pages have one title.
    """
    gathered = Gathered()
    unknown: Counter[str] = Counter()
    for path in paths:
        for page in _exported(path, gathered) if _XML.search(Path(path).name) else _files(path):
            if REDIRECT.match(page.text):
                gathered.leave_out("redirects", page.title)
            elif sections := read_sections(page.text, page.title, unknown):
                doc_id = gathered.claim(title_to_id(page.name), page.file, page.place)
                yield Document(doc_id=doc_id, title=page.title, sections=sections)
            else:
                gathered.leave_out("pages without text", page.title)
    gathered.report()
    if unknown:
        names = ", ".join(f"{name} ({count})" for name, count in unknown.most_common(_NAMED))
        _LOG.warning("%d uses of templates that are not known here, such as %s", unknown.total(), names)


class _Page(NamedTuple):
    """Wikitext with its title; ``name`` is what becomes the id."""

    file: str
    place: str | int
    name: str
    title: str
    text: str


def _files(path: str) -> Iterator[_Page]:
    for member in members(path, SUFFIXES):
        text = decode(member.data, member.place)
        yield _Page(member.place, member.name, name_of(member), title_of(member), text)


def _exported(path: str, gathered: Gathered) -> Iterator[_Page]:
    """Yield the articles of an export; of several revisions of a page the last."""
    number = 0
    with open_binary(path) as stream:
        pages = etree.iterparse(
            stream, tag="{*}page", huge_tree=True, resolve_entities=False, no_network=True, load_dtd=False
        )
        try:
            for number, (_, page) in enumerate(pages, start=1):
                title = " ".join((page.findtext("{*}title") or "").split())
                text, model = "", ""
                for revision in page.iterchildren("{*}revision"):
                    text, model = revision.findtext("{*}text") or "", revision.findtext("{*}model") or ""
                redirects = page.find("{*}redirect") is not None
                namespace = (page.findtext("{*}ns") or "0").strip()
                page.clear()
                # the parser keeps what it has passed
                while page.getprevious() is not None:
                    del page.getparent()[0]
                if not title:
                    raise InputError(path, f"page {number} has no title", field="title")
                if redirects:
                    gathered.leave_out("redirects", title)
                elif namespace != "0" or model not in _WIKITEXT:
                    gathered.leave_out("pages that are no articles", title)
                else:
                    yield _Page(path, number, title, title, text)
        except etree.XMLSyntaxError as error:
            raise InputError(path, f"no well-formed XML after page {number} ({error.msg})", error.lineno) from None
    if not number:
        raise InputError(path, "holds no <page>: is it a MediaWiki export?")
