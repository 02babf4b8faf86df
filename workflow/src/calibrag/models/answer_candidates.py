"""Candidate answers that stand in sentences: names, numbers, dates, quoted titles, noun phrases; or yes and no."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import spacy

from calibrag.errors import MissingModelError
from calibrag.normalisation import words

# how a question that wants yes or no begins, and what shows that it wants a choice instead
_POLAR = re.compile(r"^(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would)\b", re.IGNORECASE)
_CHOICE = re.compile(r"\bor\b", re.IGNORECASE)
# how a question ends that names the two answers to choose from
_OFFER = re.compile(r",\s+([^,]+?),?\s+or\s+((?:[^?,]|,\s+[A-Z])+)\?\s*$")

# what a question asks for, by its own words; the first that matches counts
_WANTED = (
    (re.compile(r"\bhow (?:many|much|far|tall|large|high)\b", re.IGNORECASE), frozenset({"number"})),
    (re.compile(r"\bhow (?:old|long)\b", re.IGNORECASE), frozenset({"number", "time"})),
    (re.compile(r"\bwhen\b|\b(?:year|date|day|month|decade)\b", re.IGNORECASE), frozenset({"time", "number"})),
    (re.compile(r"\bwho(?:m|se)?\b", re.IGNORECASE), frozenset({"person", "name"})),
    (re.compile(r"\bwhere\b|\b(?:city|country|state|county|town)\b", re.IGNORECASE), frozenset({"place", "name"})),
)
_KINDS = {"PERSON": "person", "GPE": "place", "LOC": "place", "FAC": "place", "DATE": "time", "TIME": "time"}
_KINDS |= dict.fromkeys(("CARDINAL", "QUANTITY", "MONEY", "PERCENT", "ORDINAL"), "number")
_COMMON_FIRST = {"person": 0, "place": 0, "name": 0, "time": 1, "number": 1, "phrase": 1, "head": 2}

_NAME = r"[A-Z][\w'’.\-]*(?:\s+(?:(?:of|the|and|de|von|van|for|&)\s+)*[A-Z][\w'’.\-]*)*"
_CAPITALISED = re.compile(rf"\b{_NAME}")
_PLACE_IN_PLACE = re.compile(rf"\b{_NAME}, {_NAME}")
_NUMBER = re.compile(r"\b\d[\d,.]*\b")
_YEAR = re.compile(r"\b(?:1\d{3}|20\d{2})\b")
_QUOTED = re.compile(r"[\"“]([^\"”]{2,60})[\"”]")
_CELL = re.compile(r"\s*\|\s*")
_DETERMINER = re.compile(r"^(?:the|a|an|its|his|her|their|this|these|that|another|both)\s+", re.IGNORECASE)
_ADDITION = re.compile(r"\s*\([^)]*\)$")
_EDGES = " \t'\".,;:!?()[]|–—-"
_LONGEST = 8  # words


class Candidate(NamedTuple):
    """A candidate and the positions of the sentences that hold it."""

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
            raise MissingModelError(
                f"models.reader.phrases: spaCy finds no model {model!r}; install the package or name another ({error})"
            ) from error

    def find(self, question: str, sentences: Sequence[tuple[str, str]], limit: int) -> list[Candidate]:
        """Return at most ``limit`` candidates: first of the kind that is asked for, then names, then the rest.

        A polar question has the candidates yes and no only, one that ends in two answers ("..., Heat or Ali?") these
        two. What the question itself says is no candidate, unless it offers a choice in another way ("... or ...").

        Parameters
        ----------
        sentences
            (title, sentence) pairs, the most relevant first: of equals, candidates of the first are kept.
        """
        choice = bool(_CHOICE.search(question))
        if offered := _offered(question):
            return [Candidate(name, _holding(name, sentences)) for name in offered]
        if _POLAR.match(question) and not choice:
            everywhere = tuple(range(len(sentences)))
            return [Candidate("yes", everywhere), Candidate("no", everywhere)]
        asked = " " + " ".join(words(question)) + " "
        wanted = next((kinds for pattern, kinds in _WANTED if pattern.search(question)), frozenset())
        found: dict[str, tuple[tuple[bool, int], str, dict[int, None]]] = {}
        documents = self._pipeline.pipe(text for _, text in sentences)
        for place, ((title, text), document) in enumerate(zip(sentences, documents, strict=True)):
            for kind, phrase in _phrases(document, title, text):
                phrase = _clean(phrase)
                key = " ".join(words(phrase))
                if not key or len(key.split()) > _LONGEST or (not choice and f" {key} " in asked):
                    continue
                order = (kind not in wanted, _COMMON_FIRST[kind])
                best, spelling, places = found.get(key, (order, phrase, {}))
                found[key] = (min(order, best), spelling, places | {place: None})
        ordered = sorted(found.values(), key=lambda item: item[0])[:limit]
        return [Candidate(text, tuple(places)) for _, text, places in ordered]


def _offered(question: str) -> list[str]:
    """Return the two answers between which a question lets choose at its end, as "..., Heat or Ali?"; [] elsewhere."""
    match = _OFFER.search(question)
    offered = [_clean(part) for part in match.groups()] if match else []
    return offered if all(0 < len(words(part)) <= _LONGEST for part in offered) else []


def _holding(name: str, sentences: Sequence[tuple[str, str]]) -> tuple[int, ...]:
    """Return the positions of the sentences that hold a name, in title or text; all where none does."""
    key = f" {' '.join(words(name))} "
    held = [i for i, pair in enumerate(sentences) if key in f" {' '.join(words(' '.join(pair)))} "]
    return tuple(held or range(len(sentences)))


def _clean(phrase: str) -> str:
    """Return a phrase without the marks around it; brackets that belong to it stay."""
    bare = phrase.strip(_EDGES)
    return bare + ")" if bare.count("(") > bare.count(")") else bare


def _phrases(document, title: str, text: str) -> Iterator[tuple[str, str]]:
    """Yield (kind, phrase) of everything in a sentence that may answer something; the same phrase may come twice."""
    for entity in document.ents:
        kind = _KINDS.get(entity.label_, "name")
        yield kind, entity.text
        if kind == "time":
            yield from (("time", year) for year in _YEAR.findall(entity.text))
    for chunk in document.noun_chunks:
        if chunk.root.pos_ != "PRON":
            yield "phrase", _DETERMINER.sub("", chunk.text)
            yield "head", chunk.root.text
    yield from (("name", quoted) for quoted in _QUOTED.findall(text))
    yield from (("number", number) for number in _NUMBER.findall(text))
    yield from (("name", name) for name in _CAPITALISED.findall(text))
    yield from (("place", name) for name in _PLACE_IN_PLACE.findall(text))
    if "|" in text:
        for cell in _CELL.split(text):
            yield "name", cell
            yield "name", _ADDITION.sub("", cell)
    yield "name", _ADDITION.sub("", title)
