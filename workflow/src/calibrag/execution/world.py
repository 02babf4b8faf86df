"""The world of an agent: retrieval, entailment and reading, each answering a batch of effects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec
import pyterrier as pt

from calibrag.agents.protocol import (
    Entail,
    FindName,
    NameMatches,
    Proposal,
    Proposals,
    ProposeAnswers,
    Retrieval,
    Retrieve,
    Retrieved,
)
from calibrag.corpus.store import PassageStore
from calibrag.execution.driver import Handler
from calibrag.models.answer_reader import AnswerReader
from calibrag.retrieval.entities import NameIndex, passages_of_name
from calibrag.retrieval.graph import GraphRetriever
from calibrag.retrieval.neighbours import around
from calibrag.retrieval.pipeline import Found, search_with_sources


class Verifier(Protocol):
    """What says whether premises entail claims, as ``verification.entailment.EntailmentVerifier`` does."""

    def entail(self, pairs: Sequence[tuple[str, str]], leads: Sequence[str]) -> list[float]:
        """Return P(entails) of each (premise, claim), each premise read behind its lead."""


def handlers(
    pipeline: pt.Transformer,
    store: PassageStore,
    names: NameIndex,
    graph: GraphRetriever | None,
    verifier: Verifier,
    reader: AnswerReader,
) -> dict[type, Handler]:
    """Return the handlers that ``drive`` takes: one for each kind of effect.

    ``graph`` is the pipeline's own, asked again for the names that it joins; None where it takes none.
    """

    def retrieve(effects: Sequence[Retrieve]) -> list[Retrieval]:
        found = search_with_sources(pipeline, [(effect.qid, effect.query, effect.excluded) for effect in effects])
        return [retrieval(effect, found[effect.qid]) for effect in effects]

    def retrieval(effect: Retrieve, ranking: Sequence[Found]) -> Retrieval:
        hits = [hit.passage_id for hit, _ in ranking]
        return Retrieval(
            found=[Retrieved(hit=hit, passage=store[hit.passage_id], sources=sources) for hit, sources in ranking],
            neighbours=around(hits, store, effect.neighbours, effect.excluded) if effect.neighbours else {},
            graph_names=graph.match(effect.query, effect.excluded).names if graph else [],
        )

    def find_name(effects: Sequence[FindName]) -> list[NameMatches]:
        return [name_matches(effect) for effect in effects]

    def name_matches(effect: FindName) -> NameMatches:
        hits, carried = passages_of_name(names, store.ids, **msgspec.structs.asdict(effect))
        found = [Retrieved(hit=hit, passage=store[hit.passage_id]) for hit in hits]
        return NameMatches(found=found, names=carried)

    def entail(effects: Sequence[Entail]) -> list[list[float]]:
        asked = [pair for effect in effects for pair in effect.pairs]
        leads = [lead for lead, _, _ in asked]
        scores = iter(verifier.entail([(premise, claim) for _, premise, claim in asked], leads))
        return [[next(scores) for _ in effect.pairs] for effect in effects]

    def propose(effects: Sequence[ProposeAnswers]) -> list[Proposals]:
        return [_propose(reader, effect) for effect in effects]

    return {Retrieve: retrieve, FindName: find_name, Entail: entail, ProposeAnswers: propose}


def _propose(reader: AnswerReader, effect: ProposeAnswers) -> Proposals:
    answers, tokens = reader.read(effect.question, [(s.title, s.text) for s in effect.sentences])
    proposals = [
        Proposal(text=a.text, probability=a.probability, sentences=[effect.sentences[i] for i in a.sentences])
        for a in answers
    ]
    return Proposals(model=reader.name, proposals=proposals, tokens=tokens)
