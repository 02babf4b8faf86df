"""Opening what an agent needs: models and indexes by their blocks of the configuration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from calibrag.agents.policies import POLICIES
from calibrag.agents.protocol import Converse, Policy, ProposeAnswers
from calibrag.agents.settings import EvidenceAgent
from calibrag.corpus.store import PassageStore
from calibrag.execution.passes import Agent, Passes
from calibrag.execution.world import World, checking, conversing, reading, searching
from calibrag.models.answer_candidates import CandidateFinder
from calibrag.models.answer_reader import AnswerReader
from calibrag.models.chat.opening import decoding_of, open_chat
from calibrag.models.language_scorer import LanguageScorer
from calibrag.provenance import digest_of, release
from calibrag.retrieval.entities import NameIndex
from calibrag.retrieval.opening import IndexFiles, open_embedder, open_graph, open_retriever
from calibrag.trace import Provenance
from calibrag.verification.entailment import EntailmentVerifier


class PassFiles(NamedTuple):
    """Files that a pass reads: indexes, index of names, corpus, and the reader's unpacked weights ([] for none)."""

    indexes: IndexFiles
    names: str | Path
    passages: str | Path
    reader: Sequence[str | Path]

    @classmethod
    def of(cls, inputs) -> PassFiles:
        """Return the files by their names in a rule's input."""
        return cls(IndexFiles.of(inputs), inputs.names, inputs.passages, inputs.reader)


def open_reader(models: Mapping[str, Any], unpacked: str | Path, threads: int) -> AnswerReader:
    """Return the reader of the block ``models`` of the configuration, its weights from ``unpacked``."""
    reader = models["reader"]
    return AnswerReader(
        LanguageScorer(reader["model"], unpacked, dtype=reader["dtype"], threads=threads),
        CandidateFinder(reader["phrases"]),
        open_embedder(models["embedder"], "passages", models["device"], threads),
        sentences=reader["sentences"],
        candidates=reader["candidates"],
    )


def open_verifier(models: Mapping[str, Any], threads: int) -> EntailmentVerifier:
    """Return the verifier of the block ``models`` of the configuration."""
    return EntailmentVerifier.open(models["verifier"], models["device"], threads)


def open_world(
    policy: Policy,
    system: Mapping[str, Any],
    models: Mapping[str, Any],
    files: PassFiles,
    threads: int,
) -> World:
    """Return what answers everything that the agents of a system ask for.

    Parameters
    ----------
    policy
        Says by ``asks`` whether the reader or the chat model is wanted; the other is not opened.
    system
        The system's block of the configuration, for the retriever that search uses.
    models
        Those blocks of ``models`` that are used.
    """
    store = PassageStore.open(files.passages)
    retriever = system["retriever"]
    graph = open_graph(files.indexes.graph[0], store, retriever["graph"]["depth"]) if retriever["graph"] else None
    pipeline = open_retriever(retriever, files.indexes, store, models, threads)
    batched = searching(pipeline, store, NameIndex.open(files.names, len(store)), graph)
    batched |= checking(open_verifier(models, threads))
    if ProposeAnswers in policy.asks:
        batched |= reading(open_reader(models, files.reader[0], threads))
    if Converse not in policy.asks:
        return World(batched)
    chat, spending = open_chat(models["chat"])
    decoding = decoding_of(models["chat"])
    return World(batched, conversing(chat, decoding, spending.prices), chat.close, spending)


def open_agent(system: Mapping[str, Any]) -> Agent:
    """Return policy, settings and passes of a system's block of the configuration."""
    policy = dict(system["policy"])
    build, settings = POLICIES[policy.pop("name")]
    return Agent(
        build(msgspec.convert(policy, settings)),
        msgspec.convert({key: system[key] for key in EvidenceAgent.__struct_fields__}, EvidenceAgent),
        msgspec.convert(system["passes"], Passes),
    )


def provenance_of(code: str, system: Mapping[str, Any], models: Mapping[str, Any]) -> Provenance:
    """Return what traces say of their making.

    Parameters
    ----------
    code
        Fingerprint of the code of the job.
    system, models
        The system's block of the configuration, and those blocks of ``models`` that it uses.
    """
    named = {part: _in_words(part, settings) for part, settings in models.items() if part != "device"}
    return Provenance(release=release(), code=code, settings=digest_of(system, models), models=named)


def _in_words(part: str, settings: Mapping[str, Any]) -> str:
    match part:
        case "verifier":
            return _in_words("encoder", settings["encoder"])
        case "reranker" | "encoder":
            return settings["adapter"] or settings["base"]
        case "chat":
            return f"{settings['model']}@{settings['revision']}"
        case _:
            return settings["model"]
