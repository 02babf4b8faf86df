"""The world of an agent: retrieval, entailment and reading, each answering a batch of effects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import pyterrier as pt

from calibrag.agents.protocol import Entail, Proposal, Proposals, ProposeAnswers, Retrieve, Retrieved
from calibrag.corpus.store import PassageStore
from calibrag.execution.driver import Handler
from calibrag.models.answer_reader import AnswerReader
from calibrag.retrieval.pipeline import search


class Verifier(Protocol):
    """What says whether premises entail claims, as ``verification.entailment.EntailmentVerifier`` does."""

    def entail(self, pairs: Sequence[tuple[str, str]], leads: Sequence[str]) -> list[float]:
        """Return P(entails) of each (premise, claim), each premise read behind its lead."""


def handlers(
    pipeline: pt.Transformer,
    store: PassageStore,
    verifier: Verifier,
    reader: AnswerReader,
) -> dict[type, Handler]:
    """Return the handlers that ``drive`` takes: one for each kind of effect."""

    def retrieve(effects: Sequence[Retrieve]) -> list[list[Retrieved]]:
        found = search(pipeline, [(effect.qid, effect.query, effect.excluded) for effect in effects])
        return [[Retrieved(hit=hit, passage=store[hit.passage_id]) for hit in found[effect.qid]] for effect in effects]

    def entail(effects: Sequence[Entail]) -> list[list[float]]:
        asked = [pair for effect in effects for pair in effect.pairs]
        leads = [lead for lead, _, _ in asked]
        scores = iter(verifier.entail([(premise, claim) for _, premise, claim in asked], leads))
        return [[next(scores) for _ in effect.pairs] for effect in effects]

    def propose(effects: Sequence[ProposeAnswers]) -> list[Proposals]:
        return [_propose(reader, effect) for effect in effects]

    return {Retrieve: retrieve, Entail: entail, ProposeAnswers: propose}


def _propose(reader: AnswerReader, effect: ProposeAnswers) -> Proposals:
    answers, tokens = reader.read(effect.question, [(s.title, s.text) for s in effect.sentences])
    proposals = [
        Proposal(text=a.text, probability=a.probability, sentences=[effect.sentences[i] for i in a.sentences])
        for a in answers
    ]
    return Proposals(model=reader.name, proposals=proposals, tokens=tokens)
