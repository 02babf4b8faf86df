"""Candidate answers that stand in sentences: names, numbers, dates, quoted titles, noun phrases; or yes and no."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import spacy

from calibrag.errors import MissingModelError
from calibrag.normalisation import words

# how a question that wants yes or no begins, and what shows that it wants a choice instead
_POLAR = re.compile(r"^(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would)\b", re.IGNORECASE)
_CHOICE = re.compile(r"\bor\b", re.IGNORECASE)

_CAPITALISED = re.compile(
    r"\b[A-Z][\w'’.\-]*(?:\s+(?:(?:of|the|and|de|von|van|for|&)\s+)*[A-Z][\w'’.\-]*)*"
)
_NUMBER = re.compile(r"\b\d[\d,.]*\b")
_YEAR = re.compile(r"\b(?:1\d{3}|20\d{2})\b")
_QUOTED = re.compile(r"[\"“]([^\"”]{2,60})[\"”]")
_CELL = re.compile(r"\s*\|\s*")
_DETERMINER = re.compile(r"^(?:the|a|an|its|his|her|their|this|these|that|another|both)\s+", re.IGNORECASE)
_DISAMBIGUATION = re.compile(r"\s*\([^)]*\)$")
_EDGES = " \t'\".,;:!?()[]|–—-"
_LONGEST = 8  # words


class Candidate(NamedTuple):
    """A candidate and the positions of the sentences that hold it, in order."""

    text: str
    sentences: tuple[int, ...]


class CandidateFinder:
    """Finds candidates with a spaCy pipeline (entities, and noun phrases from its parser).

    Parameters
    ----------
    model
        An installed spaCy package, or a folder.
    """

    def __init__(self, model: str):
        try:
            self._pipeline = spacy.load(model, exclude=["lemmatizer"])
        except OSError as error:
            raise MissingModelError(f"models.reader.phrases: spaCy finds no model {model!r} ({error})") from error

    def find(self, question: str, sentences: Sequence[tuple[str, str]], limit: int) -> list[Candidate]:
        """Return at most ``limit`` candidates from (title, sentence) pairs, in order of first mention.

        A polar question has the candidates yes and no only. What the question itself says is no candidate,
        unless it offers a choice ("... or ...").
        """
        choice = bool(_CHOICE.search(question))
        if _POLAR.match(question) and not choice:
            everywhere = tuple(range(len(sentences)))
            return [Candidate("yes", everywhere), Candidate("no", everywhere)]
        asked = " " + " ".join(words(question)) + " "
        found: dict[str, tuple[str, dict[int, None]]] = {}
        documents = self._pipeline.pipe(text for _, text in sentences)
        for place, ((title, text), document) in enumerate(zip(sentences, documents, strict=True)):
            for phrase in _phrases(document, title, text):
                phrase = phrase.strip(_EDGES)
                key = " ".join(words(phrase))
                if not key or len(key.split()) > _LONGEST or (not choice and f" {key} " in asked):
                    continue
                found.setdefault(key, (phrase, {}))[1][place] = None
        return [Candidate(text, tuple(places)) for text, places in list(found.values())[:limit]]


def _phrases(document, title: str, text: str) -> Iterable[str]:
    for entity in document.ents:
        yield entity.text
        if entity.label_ == "DATE":
            yield from _YEAR.findall(entity.text)
    for chunk in document.noun_chunks:
        if chunk.root.pos_ != "PRON":
            yield _DETERMINER.sub("", chunk.text)
            yield chunk.root.text
    yield from _QUOTED.findall(text)
    yield from _NUMBER.findall(text)
    yield from (match[0] for match in _CAPITALISED.finditer(text))
    if "|" in text:
        yield from _CELL.split(text)
    yield _DISAMBIGUATION.sub("", title)
