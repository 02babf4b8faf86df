"""OTT-QA (Chen et al., ICLR 2021): tables and articles to documents, questions with answer nodes to gold support.

A table becomes a document of its own (its page's lead, and the section that it stands in); an article linked from
its cells becomes another. The release is tokenised with spaces except for leads and titles: see ``detokenising``.
Both files are JSON objects by id, as released, or JSON Lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import NotRequired, TypedDict

from calibrag.collections.detokenising import detokenise
from calibrag.collections.entries import is_keyed, read_entries, read_keyed
from calibrag.collections.identifiers import escape_id
from calibrag.errors import InputError
from calibrag.records import Document, Question, Section, Support, TableBlock, TextBlock

ARTICLE_PREFIX = "/wiki/"

_Cell = tuple[str, list[str]]


class Table(TypedDict):
    """A table of the release; other fields are passed over. In an object of tables its key is its id."""

    url: NotRequired[str]
    uid: NotRequired[str]
    table_id: NotRequired[str]
    title: str
    intro: str
    section_title: str
    section_text: str
    header: list[_Cell]
    data: list[list[_Cell]]


class Article(TypedDict):
    """An article linked from a table."""

    id: str
    title: str
    text: str


def read_documents(*paths: str) -> Iterator[Document]:
    """Yield the documents of the tables (first path), then those of the articles (second path).

    Raises
    ------
    InputError
        There are not two paths, a file is cut off, damaged or not as released, or two documents share an id.
    """
    if len(paths) != 2:
        raise InputError(", ".join(paths), f"OTT-QA needs two paths, tables and passages (got {len(paths)})")
    return documents(_tables(paths[0]), _articles(paths[1]), ", ".join(paths))


def _tables(path: str) -> Iterator[Table]:
    if is_keyed(path, Table.__annotations__):
        yield from (table | {"table_id": key} for _, key, table in read_keyed(path, Table))
        return
    for place, table in read_entries(path, Table):
        if "table_id" not in table:
            raise place.error("missing; each table needs one", "table_id")
        yield table


def _articles(path: str) -> Iterator[Article]:
    if is_keyed(path, Article.__annotations__):
        for _, key, text in read_keyed(path, str):
            yield Article(id=key, title=key.removeprefix(ARTICLE_PREFIX).replace("_", " "), text=text)
    else:
        yield from (article for _, article in read_entries(path, Article))


def article_doc_id(article_id: str) -> str:
    """Return the document id of an article ``/wiki/NAME``."""
    return escape_id(article_id.removeprefix(ARTICLE_PREFIX))


def table_doc_id(table_id: str) -> str:
    """Return the document id of a table."""
    return escape_id(table_id)


def article_document(article: Mapping) -> Document:
    """Return the document of an article: {id, title, text}."""
    block = TextBlock(text=detokenise(article["text"]))
    return Document(doc_id=article_doc_id(article["id"]), title=article["title"], sections=[Section(blocks=[block])])


def table_document(table: Mapping) -> Document:
    """Return the document of a table: {table_id, title, intro, section_title, section_text, header, data}."""
    sections = []
    if table["intro"].strip():
        # the lead is the one field that the release left untokenised
        sections.append(Section(blocks=[TextBlock(text=table["intro"].strip())]))
    blocks: list = []
    if section_text := detokenise(table["section_text"]):
        blocks.append(TextBlock(text=section_text))
    header = [detokenise(cell[0]) for cell in table["header"]]
    blocks.append(TableBlock(header=header, rows=[table_row(row) for row in table["data"]]))
    heading = detokenise(table["section_title"]).replace(" -- ", " – ")
    sections.append(Section(heading=heading or None, blocks=blocks))
    return Document(doc_id=table_doc_id(table["table_id"]), title=table["title"], sections=sections)


def table_row(row: Iterable) -> list[str]:
    """Return the cells of a row as normal text; each comes as [text, links]."""
    return [detokenise(cell[0]) for cell in row]


def documents(tables: Iterable[Mapping], articles: Iterable[Mapping], file: str) -> Iterator[Document]:
    """Yield the documents of the tables, then those of the articles.

    Raises
    ------
    InputError
        Two of them share an id: a table's id is a page name and a number, which an article may be called too.
    """
    seen: set[str] = set()
    for document in chain(map(table_document, tables), map(article_document, articles)):
        if document.doc_id in seen:
            raise InputError(file, f"{document.doc_id} is the id of two documents; rename one", field="doc_id")
        seen.add(document.doc_id)
        yield document


def question(
    entry: Mapping,
    tables: Mapping[str, Mapping],
    articles: Mapping[str, Mapping],
    render_row: Callable[[Iterable[str]], str],
    split: str,
) -> Question:
    """Return a question with its support.

    An answer node in a cell is supported by the cell's row. One in an article is supported by the article, at
    the words of the answer (the node's own text is the name of the cell that links to it), and by the row that
    holds the link, the bridging fact. OTT-QA finds its nodes by matching the answer's words, so an answer such as
    "American" has more of them than a person would mark.

    Parameters
    ----------
    entry
        {id, question, answer, table_id, answer_nodes[{text, cell, passage_id, where}]}
    tables, articles
        The records of the release by ``table_id`` and by ``id``.
    render_row
        How a row reads in a passage (``corpus.chunking.render_row``; a layer above this one, hence passed in).
    """
    doc_id = table_doc_id(entry["table_id"])
    answer = detokenise(entry["answer"])
    support: dict[Support, None] = {}
    for node in entry["answer_nodes"]:
        row = tables[entry["table_id"]]["data"][node["cell"][0]]
        if node["where"] == "passage":
            article = articles[node["passage_id"]]
            words = (answer, detokenise(node["text"]))
            text = detokenise(article["text"])
            quote = next((found for word in words if (found := _as_it_stands(word, text))), None)
            support[Support(doc_id=article_doc_id(article["id"]), quote=quote)] = None
        support[Support(doc_id=doc_id, quote=render_row(table_row(row)))] = None
    return Question(
        qid=entry["id"], text=detokenise(entry["question"]), answers=[answer], support=list(support), split=split
    )


def _as_it_stands(words: str, text: str) -> str | None:
    """Return ``words`` in the letter case in which ``text`` has them; None where it has them not."""
    start = text.casefold().find(words.casefold())
    if start < 0 or len(text.casefold()) != len(text):
        return words if words in text else None
    return text[start : start + len(words)]
