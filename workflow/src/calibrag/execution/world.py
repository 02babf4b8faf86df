"""The world of an agent: retrieval, entailment and reading answer batches of effects, a chat model one by one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple, Protocol

import msgspec
import pyterrier as pt

from calibrag.agents.protocol import (
    Converse,
    Entail,
    Entailed,
    FindName,
    NameMatches,
    Performed,
    Proposal,
    Proposals,
    ProposeAnswers,
    Retrieval,
    Retrieve,
    Retrieved,
    Said,
)
from calibrag.corpus.store import PassageStore
from calibrag.errors import SchemaError
from calibrag.execution.driver import Caller, Handler
from calibrag.models.answer_reader import AnswerReader
from calibrag.models.chat.seam import ChatModel, ChatRequest, Decoding
from calibrag.models.chat.spending import Prices, Spending
from calibrag.retrieval.entities import NameIndex, passages_of_name
from calibrag.retrieval.graph import GraphRetriever
from calibrag.retrieval.neighbours import around
from calibrag.retrieval.pipeline import Found, search_with_sources
from calibrag.verification.entailment import Entailment


class Verifier(Protocol):
    """What says whether premises entail claims, as ``verification.entailment.EntailmentVerifier`` does."""

    def entail(self, pairs: Sequence[tuple[str, str]], leads: Sequence[str]) -> list[Entailment]:
        """Return the entailment of each (premise, claim), each premise read behind its lead."""


async def _nothing_to_close() -> None:
    pass


class World(NamedTuple):
    """What answers the effects of agents, see ``driver.drive``; ``spending`` counts a chat model's calls, if any."""

    batched: dict[type, Handler]
    awaited: dict[type, Caller] = {}
    close: Callable[[], Awaitable[None]] = _nothing_to_close
    spending: Spending | None = None


def searching(
    pipeline: pt.Transformer, store: PassageStore, names: NameIndex, graph: GraphRetriever | None
) -> dict[type, Handler]:
    """Return what answers ``Retrieve`` and ``FindName``.

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

    return {Retrieve: retrieve, FindName: find_name}


def checking(verifier: Verifier) -> dict[type, Handler]:
    """Return what answers ``Entail``."""

    def entail(effects: Sequence[Entail]) -> list[list[Entailed]]:
        asked = [pair for effect in effects for pair in effect.pairs]
        leads = [lead for lead, _, _ in asked]
        found = iter(verifier.entail([(premise, claim) for _, premise, claim in asked], leads))
        return [[_entailed(next(found)) for _ in effect.pairs] for effect in effects]

    return {Entail: entail}


def _entailed(found: Entailment) -> Entailed:
    return Entailed(score=found.score, second_model=found.second)


def reading(reader: AnswerReader) -> dict[type, Handler]:
    """Return what answers ``ProposeAnswers``."""

    def propose(effects: Sequence[ProposeAnswers]) -> list[Proposals]:
        return [_propose(reader, effect) for effect in effects]

    return {ProposeAnswers: propose}


def conversing(chat: ChatModel, decoding: Decoding, prices: Prices | None) -> dict[type, Caller]:
    """Return what answers ``Converse``: also where no reply kept to the schema, which the agent is told."""

    async def converse(effect: Converse) -> Performed:
        request = ChatRequest(
            messages=effect.messages,
            decoding=decoding,
            schema=effect.schema,
            tools=effect.tools,
            sample=effect.sample,
        )
        flaw = None
        try:
            reply = await chat.complete(request)
        except SchemaError as error:
            reply, flaw = error.reply, error.flaw
        cost = prices and prices.cost(reply.usage)
        said = Said(model=f"{chat.name}@{chat.revision}", reply=reply, cost=cost, problem=flaw)
        return Performed(said, reply.seconds)

    return {Converse: converse}


def _propose(reader: AnswerReader, effect: ProposeAnswers) -> Proposals:
    answers, tokens = reader.read(effect.question, [(s.title, s.text) for s in effect.sentences])
    proposals = [
        Proposal(text=a.text, probability=a.probability, sentences=[effect.sentences[i] for i in a.sentences])
        for a in answers
    ]
    return Proposals(model=reader.name, proposals=proposals, tokens=tokens)
