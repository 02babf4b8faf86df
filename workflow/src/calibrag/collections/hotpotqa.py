"""HotpotQA (Yang et al., EMNLP 2018), distractor setting: contexts to documents, questions to gold support.

One document a title. Sentences are joined by one space, so that each is a literal substring of its document.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Mapping

from calibrag.collections.identifiers import title_to_id
from calibrag.errors import InputError
from calibrag.records import Document, Question, Section, Support, TextBlock


def clean_title(title: str) -> str:
    """Return a title without the HTML entities that the release has in some (``Hall &amp; Oates``)."""
    return " ".join(html.unescape(title).split())


def documents(entries: Iterable[Mapping], paragraphs: Iterable[Mapping], file: str) -> Iterator[Document]:
    """Yield a document for each title of the contexts, then for each further title of the paragraphs.

    Parameters
    ----------
    entries
        Questions: {context[[title, [sentence, ...]], ...], ...}
    paragraphs
        A pool to search beside them: {title, text}. Where a context has the title too, its sentences win.

    Raises
    ------
    InputError
        Two contexts give one title different text.
    """
    texts: dict[str, str] = {}
    for entry in entries:
        for title, sentences in entry["context"]:
            title, text = clean_title(title), _join(sentences)
            if texts.setdefault(title, text) != text:
                raise InputError(file, f"two texts under the title {title!r}", field="context")
    for paragraph in paragraphs:
        texts.setdefault(clean_title(paragraph["title"]), _join([paragraph["text"]]))
    for title, text in texts.items():
        if text:
            yield Document(doc_id=title_to_id(title), title=title, sections=[Section(blocks=[TextBlock(text=text)])])


def question(entry: Mapping, split: str) -> Question:
    """Return a question; support is its supporting sentences. An index past the context's end is left out."""
    sentences = {clean_title(title): context for title, context in entry["context"]}
    support: dict[Support, None] = {}
    for title, index in entry["supporting_facts"]:
        context = sentences.get(clean_title(title), [])
        if index < len(context) and context[index].strip():
            doc_id = title_to_id(clean_title(title))
            support[Support(doc_id=doc_id, quote=_join([context[index]]))] = None
    return Question(
        qid=entry["id"],
        text=" ".join(html.unescape(entry["question"]).split()),
        type=entry["type"],
        answers=[" ".join(html.unescape(entry["answer"]).split())],
        support=list(support),
        split=split,
    )


def _join(sentences: Iterable[str]) -> str:
    cleaned = (" ".join(sentence.split()) for sentence in sentences)
    return " ".join(sentence for sentence in cleaned if sentence)
