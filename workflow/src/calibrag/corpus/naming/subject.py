"""What a document is about: its name, its kind, and the words that stand for it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from calibrag.corpus.naming import lexicon
from calibrag.corpus.naming.words import Words, folded_name
from calibrag.records import Passage

Kind = Literal["person", "collective", "thing", "unknown"]

_QUALIFIER = re.compile(r"\s*\([^()]*\)$")
_UNNAMED = re.compile(r"^(?:Lists? of|Index of|Outline of|Timeline of|Comparison of)\b|^\d{4}(?:[-–]\d+)? in\b")
_WORKS_OF = re.compile(
    r"^(.+?)(?:'s?)? (?:discography|filmography|bibliography|videography|discography and filmography)$"
)
_SIDE_OF = re.compile(
    r"^(?:History|Geography|Economy|Culture|Politics|Demographics|Education|Death|Assassination) (?:of|in) (?=[A-Z])"
)
_SEASON_OF = re.compile(
    r"^\d{4}(?:[-–]\d+)? (.+?) (?:season|(?:(?:wo)?men's )?(?:football|basketball|baseball|hockey) team)$"
)
_CLUB = re.compile(r"^(?:A?FC|SC|AC|CD|[ACF]\.[CD]\.) | (?:A\.?)?[FSAC]\.?[CF]\.?$")
_DEFINITION_WORDS = 90
"""A page says within so many words what its subject is, or not at all."""
_BIRTH_WORDS = 40
"""Within so many words a lead says when its subject was born."""
_SUFFIXES = frozenset({"jr", "sr", "ii", "iii", "iv"})
_GENDERED = (lexicon.HE, lexicon.SHE)
_COPULAS = frozenset({"is", "was", "are", "were"})
_PROFESSIONAL = re.compile(r".{3,}(?:er|or|ist|ian|man|woman|ant)$")


class Subject(NamedTuple):
    """What a document is about.

    Attributes
    ----------
    name
        Its name as the title has it, without a qualifier in brackets.
    aliases
        Folded forms of the name (see `words.folded_name`); a passage with one of them spells the name out.
    kind
        ``person``; ``collective`` (a band, a club: "they" or "it"); ``thing``; ``unknown``.
    pronouns
        The pronouns that stand for it.
    nouns
        The nouns that stand for it behind "the".
    modifiers
        Words that may stand between "the" and the noun: those of its definition.
    parts
        Folded short forms of its name, such as a surname.
    """

    name: str
    aliases: frozenset[tuple[str, ...]]
    kind: Kind
    pronouns: frozenset[str]
    nouns: frozenset[str]
    modifiers: frozenset[str]
    parts: frozenset[str]


def subject(passages: Sequence[Passage], words: Sequence[Words], lead_names: Sequence[str]) -> Subject | None:
    """Return what a document is about; None where its title is no name ("List of ...", "1929 in film").

    The name is the title's. Kind and nouns are those of the lead's definition: "X is a 1994 American *film*". A person
    goes by "he" or "she", whichever the document uses more often.

    Parameters
    ----------
    passages, words
        The passages of the document, and the words of each.
    lead_names
        The names that the first passage spells out.
    """
    title = passages[0].title
    # "History of Ahmedabad" is about Ahmedabad
    base = _SIDE_OF.sub("", _QUALIFIER.sub("", title))
    if _UNNAMED.match(title) or not any(map(str.isupper, base)):
        return None
    if works := _WORKS_OF.match(base):
        owner = works[1]
        kind = "person" if any(_genders(words)) else "unknown"
        return _described(owner, {folded_name(owner)}, (), frozenset(), kind, _pronouns(kind, (), words))
    if season := _SEASON_OF.match(base):
        team = season[1]
        aliases = {folded_name(team), folded_name(base)}
        return _described(team, aliases, ("team",), frozenset(), "collective", _pronouns("collective", (), words))
    lead = words[0] if passages[0].kind == "text" else Words("")
    heads, modifiers = definition(lead)
    aliases = {folded_name(form) for form in (title, base, _CLUB.sub("", base)) if form}
    place, _, region = base.partition(", ")
    if region and lead.find(folded_name(place))[:1] == [0] and not lead.find(folded_name(base)):
        base = place
        aliases.add(folded_name(place))
    # the first name of the lead is its subject's full one: "Daniel Kenji Silva Matsunaga"
    first = folded_name(base)
    for name in lead_names[:1]:
        full = folded_name(name)
        if full[:1] == first[:1] or full[-1:] == first[-1:]:
            aliases.add(full)
    kind = _kind(heads, words)
    return _described(base, aliases, heads, modifiers, kind, _pronouns(kind, heads, words))


def definition(lead: Words) -> tuple[tuple[str, ...], frozenset[str]]:
    """Return the head nouns by which a lead defines its subject, and the words before them.

    ("film",) and {"1994", "american"} for "X is a 1994 American film directed by ...". Empty where there is no such
    sentence.
    """
    folded = lead.folded[:_DEFINITION_WORDS]
    depth = 0
    for place, token in enumerate(folded):
        depth += (token in "([") - (token in ")]")
        if token in _COPULAS and depth <= 0:
            return _noun_phrase(lead, place + 1)
    return (), frozenset()


def _noun_phrase(lead: Words, start: int) -> tuple[tuple[str, ...], frozenset[str]]:
    """Return heads and modifiers of the noun phrase, or of several joined by "and", that start at a place."""
    heads: list[str] = []
    modifiers: set[str] = set()
    phrase: list[str] = []
    depth = 0
    for token, folded in zip(lead.tokens[start : start + 40], lead.folded[start : start + 40], strict=True):
        depth += (token in "([") - (token in ")]")
        if depth or token in ")]":
            continue
        if folded == "of" and not heads and lexicon.PARTITIVES.intersection(phrase[:1] + phrase[-1:]):
            phrase = []
            continue
        ends = folded in lexicon.BOUNDARIES or folded in {".", ";"} or bool(phrase) and _is_adverb(folded)
        if ends or folded in {",", "and", "or", "&"}:
            head = _head(phrase)
            if head is not None:
                heads.append(_singular(phrase[head].casefold()))
                modifiers.update(phrase[:head])
            phrase = []
            if ends:
                break
        elif folded not in {"a", "an", "the", "currently"}:
            # capitals are names, and no head: "an American National Basketball Association (NBA) player"
            phrase.append(folded if token == folded else token)
    return tuple(dict.fromkeys(heads)), frozenset(word.casefold() for word in modifiers)


def _head(phrase: list[str]) -> int | None:
    """Return where the head of a noun phrase stands: its last word that is no participle; None if that is a name."""
    for place in range(len(phrase) - 1, -1, -1):
        word = phrase[place]
        noun = _singular(word.casefold())
        if noun in lexicon.PERSON or word.islower() and noun in lexicon.SYNONYMS:
            return place
        if not word.endswith(("ed", "ing", "est")):
            return place if word.islower() and word.isalpha() else None
    return None


def _is_adverb(word: str) -> bool:
    return word.endswith("ly") and word not in {
        "family",
        "monthly",
        "weekly",
        "daily",
        "early",
        "friendly",
        "only",
        "fly",
    }


def _singular(noun: str) -> str:
    for ending, singular in (("ies", "y"), ("sses", "ss"), ("ches", "ch"), ("s", "")):
        shorter = noun.removesuffix(ending) + singular
        if shorter != noun and (shorter in lexicon.SYNONYMS or shorter in lexicon.PERSON):
            return shorter
    return noun


def _described(
    name: str,
    aliases: set[tuple[str, ...]],
    heads: Sequence[str],
    modifiers: frozenset[str],
    kind: Kind,
    pronouns: frozenset[str],
) -> Subject:
    """Return a subject with the nouns that stand for it and the parts of its name, by its kind."""
    nouns: set[str] = set()
    parts: set[str] = set()
    if kind == "person":
        nouns = {head for head in heads if head in lexicon.PERSON or _PROFESSIONAL.fullmatch(head)}
        own = [token for token in folded_name(name) if token.isalpha() and len(token) > 1 and token not in _SUFFIXES]
        parts = {own[0], own[-1]} if len(own) > 1 else set()
    elif kind != "unknown":
        known = [head for head in heads if head in lexicon.SYNONYMS]
        nouns = set().union(*(lexicon.SYNONYMS[head] for head in known[:2])) if known else set(heads[:1])
    return Subject(name, frozenset(aliases), kind, pronouns, frozenset(nouns), modifiers, frozenset(parts))


def _kind(heads: Sequence[str], words: Sequence[Words]) -> Kind:
    """Return the kind that the definition gives.

    Without a known noun, what was born and goes by "he" or "she" is a person.
    """
    gendered = any(_genders(words))
    for head in heads:
        if head in lexicon.PERSON or gendered and _PROFESSIONAL.fullmatch(head) and head not in lexicon.SYNONYMS:
            return "person"
        if head in lexicon.SYNONYMS:
            return "collective" if head in lexicon.COLLECTIVE else "thing"
    if gendered and "born" in words[0].folded[:_BIRTH_WORDS]:
        return "person"
    return "thing" if heads else "unknown"


def _pronouns(kind: Kind, heads: Sequence[str], words: Sequence[Words]) -> frozenset[str]:
    """Return the pronouns that stand for a subject.

    A person goes by "she" where its nouns say so or the document has more of "she" than of "he", else by "he".
    """
    if kind == "person":
        he, she = _genders(words)
        return lexicon.SHE if she > he or lexicon.SHE_NOUNS.intersection(heads) else lexicon.HE
    return {"collective": lexicon.IT | lexicon.THEY, "thing": lexicon.IT, "unknown": frozenset()}[kind]


def _genders(words: Sequence[Words]) -> tuple[int, int]:
    """Return how often a document uses he and she, in all their forms."""
    he, she = (sum(len(text.places.get(word, ())) for text in words for word in group) for group in _GENDERED)
    return he, she
