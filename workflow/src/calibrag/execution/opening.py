"""Opening what an agent needs: models and indexes by their blocks of the configuration."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from calibrag.agents.policies import POLICIES
from calibrag.agents.protocol import Policy
from calibrag.agents.settings import EvidenceAgent
from calibrag.corpus.store import PassageStore
from calibrag.execution.driver import Handler
from calibrag.execution.passes import Passes
from calibrag.execution.world import handlers
from calibrag.models.answer_candidates import CandidateFinder
from calibrag.models.answer_reader import AnswerReader
from calibrag.models.cross_encoder import CrossEncoder
from calibrag.models.language_scorer import LanguageScorer
from calibrag.retrieval.entities import NameIndex
from calibrag.retrieval.opening import IndexFiles, open_embedder, open_graph, open_retriever
from calibrag.verification.entailment import EntailmentVerifier


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
    settings = models["verifier"]
    encoder = CrossEncoder(**settings["encoder"], device=models["device"], threads=threads)
    return EntailmentVerifier(encoder, settings["chunk_words"])


def open_world(
    system: Mapping[str, Any],
    models: Mapping[str, Any],
    indexes: IndexFiles,
    names: str | Path,
    passages: str | Path,
    unpacked_reader: str | Path,
    threads: int,
) -> dict[type, Handler]:
    """Return the handlers of everything that the agents of a system ask for.

    Parameters
    ----------
    system
        The system's block of the configuration.
    indexes
        Files of the indexes that the system's retriever searches.
    names
        File of the index of names.
    passages
        File of the corpus.
    unpacked_reader
        Folder of the reader's weights, as ``models.language_scorer.unpack`` wrote it.
    """
    store = PassageStore.open(passages)
    graph = system["retriever"]["graph"]
    return handlers(
        open_retriever(system["retriever"], indexes, store, models, threads),
        store,
        NameIndex.open(names, len(store)),
        open_graph(indexes.graph[0], store, graph["depth"]) if graph else None,
        open_verifier(models, threads),
        open_reader(models, unpacked_reader, threads),
    )


def open_agent(system: Mapping[str, Any]) -> tuple[Policy, EvidenceAgent, Passes]:
    """Return policy, settings and passes of a system's block of the configuration."""
    policy = dict(system["policy"])
    build, settings = POLICIES[policy.pop("name")]
    agent = {key: system[key] for key in EvidenceAgent.__struct_fields__}
    return (
        build(msgspec.convert(policy, settings)),
        msgspec.convert(agent, EvidenceAgent),
        msgspec.convert(system["passes"], Passes),
    )
