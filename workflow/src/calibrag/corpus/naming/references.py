"""To which names of its document does a passage refer without spelling them out?

Rules over the words and the passage-level names of one document, read once from its first passage to its last, so that
each name assigned has been spelled out before, or is the title's. They are four, in order of certainty:

``partial_name``  a part of the name: "Burton" for "Tim Burton", "49ers" for "San Francisco 49ers"
``description``   "the" and a noun by which the name was introduced: "the film", "the rugby stadium", "the governor"
``pronoun``       a pronoun that fits the subject of the page, by its kind: he, she, it, they
``table``         a table, which lists something of the subject of the page

The subject of the page is the most salient name; after it comes the name mentioned last. A name that the passage spells
out in full is not assigned.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple, get_args

from calibrag.corpus.naming import lexicon
from calibrag.corpus.naming.subject import Subject, subject
from calibrag.corpus.naming.words import Words, folded_name, name_tokens
from calibrag.records import Annotation, Passage

Rule = Literal["partial_name", "description", "pronoun", "table"]
RULES: tuple[Rule, ...] = get_args(Rule)


class Reference(NamedTuple):
    """A name that a passage refers to, the rule that found it, and the words that refer (empty for a table)."""

    passage_id: str
    name: str
    rule: Rule
    words: str


def assign(
    document_passages: Sequence[Passage],
    passage_names: Mapping[str, Sequence[str]],
    rules: Collection[Rule],
    at_most: int,
) -> Iterator[Annotation]:
    """Yield the names of a document that each of its passages refers to without spelling them out.

    Parameters
    ----------
    document_passages
        All passages of one document, in order.
    passage_names
        The names that each of them spells out, by passage id; passages without any may be absent.
    rules
        Which of `RULES` assign.
    at_most
        Names assigned to a passage; the subject of the page comes first.
    """
    for found in refer(document_passages, passage_names, rules):
        for reference in found[:at_most]:
            yield Annotation(passage_id=reference.passage_id, name=reference.name, origin="document")


def refer(
    passages: Sequence[Passage], passage_names: Mapping[str, Sequence[str]], rules: Collection[Rule]
) -> Iterator[list[Reference]]:
    """Yield for each passage of a document what it refers to, the page's subject first, each name once."""
    words = [Words(passage.text) for passage in passages]
    about = subject(passages, words, passage_names.get(passages[0].passage_id, ()))
    memory = _Memory(about)
    for passage, text in zip(passages, words, strict=True):
        here = _Here(text, passage_names.get(passage.passage_id, ()))
        found: dict[str, Reference] = {}
        for rule, name, evidence in _found(passage, here, about, memory, rules):
            found.setdefault(name.casefold(), Reference(passage.passage_id, name, rule, evidence))
        if about is not None:
            first = about.name.casefold()
            yield sorted(found.values(), key=lambda reference: reference.name.casefold() != first)
        else:
            yield list(found.values())
        # in a table, names of neighbouring cells run into one another
        if passage.kind == "text":
            memory.add(here)


class _Here:
    """A passage: its words and the names that it spells out."""

    def __init__(self, text: Words, names: Sequence[str]):
        self.text = text
        self.names = names
        self.folded = {folded_name(name) for name in names}

    def spells(self, forms: Collection[tuple[str, ...]]) -> bool:
        """Return whether one of the forms stands in the passage, not only as part of a longer name there."""
        for form in forms:
            inside = sum(len(self.text.find(name)) for name in self.folded if _within(form, name))
            if len(self.text.find(form)) > inside:
                return True
        return False


def _within(form: tuple[str, ...], name: tuple[str, ...]) -> bool:
    """Return whether a form is a part of a longer name."""
    length = len(form)
    return len(name) > length and any(name[at : at + length] == form for at in range(len(name) - length + 1))


class _Memory:
    """What the passages before have named: full names by their last words, and names by the noun of their kind."""

    def __init__(self, about: Subject | None):
        self.by_part: dict[tuple[str, ...], dict[str, None]] = {}
        self.by_noun: dict[str, str] = {}
        if about is not None:
            self._add_parts(about.name)

    def add(self, here: _Here) -> None:
        """Take in the names of a passage."""
        for name in here.names:
            self._add_parts(name)
            noun = _noun_of(name, here.text)
            if noun:
                # the name mentioned last is the one that is meant
                self.by_noun[noun] = name

    def _add_parts(self, name: str) -> None:
        tokens = folded_name(name)
        if 2 <= len(tokens) <= 5 and all(token[0].isalnum() for token in tokens):
            for length in range(1, len(tokens)):
                left, part = tokens[:-length], tokens[-length:]
                if _may_stand_for(left, part, name_tokens(name)):
                    self.by_part.setdefault(part, {})[name] = None


def _may_stand_for(left: tuple[str, ...], part: tuple[str, ...], tokens: tuple[str, ...]) -> bool:
    """Return whether the last words of a name can stand for the whole: not "York" for "New York"."""
    return (
        len("".join(part)) > 2
        and tokens[len(left)][0].isupper()
        and not (len(part) == 1 and part[0] in lexicon.COUNTRIES)
        and not all(token in lexicon.QUALIFIERS or token.isdigit() for token in left)
        and all(token[0].isupper() or token[0].isdigit() or token in lexicon.PARTICLES for token in tokens)
    )


def _noun_of(name: str, text: Words) -> str | None:
    """Return the noun that introduces a name: ``film`` in 'the film "Alien"', ``governor`` in "Governor Jones"."""
    for place in text.find(folded_name(name))[:1]:
        before = place - 1
        while before >= 0 and text.tokens[before] in "\"“'‘":
            before -= 1
        if before < 0:
            return None
        noun = text.folded[before]
        if noun in lexicon.SYNONYMS:
            return noun
        if noun in lexicon.PERSON and text.tokens[before][0].isupper():
            return noun
    return None


# --- the rules -----------------------------------------------------------------------------------

_Found = tuple[Rule, str, str]


def _found(
    passage: Passage, here: _Here, about: Subject | None, memory: _Memory, rules: Collection[Rule]
) -> Iterator[_Found]:
    """Yield (rule, name, words that refer), the surest rule first."""
    subject_open = about is not None and not here.spells(about.aliases)
    if "partial_name" in rules:
        yield from _partial_names(here, about if subject_open else None, memory)
    if passage.kind == "table":
        if "table" in rules and subject_open:
            yield "table", about.name, ""
        return
    if "description" in rules:
        yield from _descriptions(here, about, subject_open, memory)
    if "pronoun" in rules and subject_open:
        pronoun = _pronoun(here.text, about)
        if pronoun:
            yield "pronoun", about.name, pronoun


def _partial_names(here: _Here, about: Subject | None, memory: _Memory) -> Iterator[_Found]:
    if about is not None:
        for part in sorted(about.parts):
            for place in here.text.places.get(part, ()):
                word = here.text.tokens[place]
                # a longer name with the same word is another person's: "Mirza Mehboob Beg"
                if word[0].isupper() and not any(_within((part,), name) for name in here.folded):
                    yield "partial_name", about.name, word
                    break
    for name in here.names:
        part = folded_name(name)
        if about is not None and (part in about.aliases or len(part) == 1 and part[0] in about.parts):
            continue
        wholes = memory.by_part.get(part)
        if not wholes or any(_within(part, other) for other in here.folded):
            continue
        # two Wrights: which of them is not known
        if len(wholes) == 1 or about is not None and about.name in wholes:
            whole = about.name if about is not None and about.name in wholes else next(iter(wholes))
            if not here.spells({folded_name(whole)}):
                yield "partial_name", whole, name


def _descriptions(here: _Here, about: Subject | None, subject_open: bool, memory: _Memory) -> Iterator[_Found]:
    text = here.text
    for determiner in ("the", "this"):
        for place in text.places.get(determiner, ()):
            end = _noun_at(text, place + 1, about)
            if end is None:
                continue
            noun = text.folded[end]
            phrase = " ".join(text.tokens[place : end + 1])
            if about is not None and noun in about.nouns:
                if subject_open:
                    yield "description", about.name, phrase
            elif end == place + 1 and noun in memory.by_noun:
                name = memory.by_noun[noun]
                # behind another name, the noun may be about that one
                if _nothing_before(text, place) and not here.spells({folded_name(name)}):
                    yield "description", name, phrase


def _noun_at(text: Words, place: int, about: Subject | None) -> int | None:
    """Return where the noun of "the ..." stands; None where it stands for no name.

    One word of the subject's definition may stand before it: "the rugby stadium".
    """
    folded = text.folded
    for end in (place, place + 1):
        if end >= len(folded):
            return None
        word = folded[end]
        following = end + 1
        if text.tokens[end] == word and (
            word in lexicon.SYNONYMS or word in lexicon.PERSON or (about and word in about.nouns)
        ):
            if following < len(folded) and _goes_on(text, following):
                # "the film score": the noun is another one
                continue
            return end
        if not about or word not in about.modifiers:
            return None
    return None


def _goes_on(text: Words, place: int) -> bool:
    """Return whether what follows the noun says that it is another one: "the film that", "the film Alien"."""
    token = text.tokens[place]
    if text.folded[place] in lexicon.RESTRICTING or token in '"“':
        return True
    return token[0].isupper() or text.folded[place] in lexicon.SYNONYMS or text.folded[place] in lexicon.PERSON


def _pronoun(text: Words, about: Subject) -> str | None:
    """Return a pronoun of the passage that stands for the subject of the page; None where there is none.

    "he" and "she" stand for it wherever they are; "it" and "they" where the passage has named nothing before them.
    """
    gendered = about.kind == "person"
    for place in sorted(place for word in about.pronouns for place in text.places.get(word, ())):
        word = text.tokens[place]
        if word.isupper() and len(word) > 1:
            continue
        if gendered:
            return word
        if text.folded[place] in {"it", "they"} and _is_expletive(text, place):
            continue
        return word if _nothing_before(text, place) else None
    return None


def _is_expletive(text: Words, place: int) -> bool:
    following = text.folded[place + 1 : place + 5]
    return (
        bool(following)
        and following[0] in {"is", "was", "has", "became", "seems", "appears"}
        and any(word in lexicon.EXPLETIVE for word in following[1:3])
        and any(word in {"that", "to", "whether", "if", "how", "why"} for word in following[1:])
    )


def _nothing_before(text: Words, place: int) -> bool:
    """Return whether no name stands before the place: no capital but those that start a sentence."""
    return not any(text.tokens[at][0].isupper() and not text.starts_sentence(at) for at in range(place))
