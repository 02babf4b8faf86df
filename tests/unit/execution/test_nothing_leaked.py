"""Excluded passages appear nowhere: the tools over real indexes, with stand-ins for the models alone."""

import asyncio
import zlib
from types import SimpleNamespace

import msgspec
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrag.agents.orchestrator import EvidencePass
from calibrag.agents.protocol import EntitySearch, ProposeAnswers, Read, RecordNugget, Search, Sentence
from calibrag.agents.settings import EntitySearchLimits, EvidenceAgent, Gate, Limits, PassConfidence
from calibrag.corpus.passage_ids import PassageIds
from calibrag.corpus.store import PassageStore, read_annotations, write_annotations, write_passages
from calibrag.execution.driver import drive
from calibrag.execution.world import checking, reading, searching
from calibrag.records import Annotation, Passage, Question
from calibrag.retrieval import dense, graph, pipeline, sparse
from calibrag.retrieval.entities import NameIndex, index_names
from calibrag.retrieval.named import with_names
from calibrag.retrieval.reranking import CrossEncoderReranker
from calibrag.retrieval.vectors import Vectors
from calibrag.trace import EntitySearchEvent, SearchEvent, Submission, Trace, Usage
from calibrag.verification.entailment import Entailment

NAMES = ["Ann Lee", "Bo Hall", "Cy Roe", "Di Fox"]
QUESTION = Question(qid="q", text="Where did Ann Lee meet Bo Hall and Cy Roe?", answers=["Rome"])
SETTINGS = EvidenceAgent(
    gate=Gate(min_nuggets=9, strong_entailment=1.0, confidence_floor=1.0),
    limits=Limits(turns=200, tokens=10**6, transcript=1, seconds=None),
    verified_entailment=0.5,
    most_neighbours=2,
    entity_search=EntitySearchLimits(passages=4, names=10),
    read_sentences=3,
    confidence=PassConfidence(rule="noisy_or_evidence", full_evidence=3, turned_back_discount=0.9, overlap_weight=0.5),
    fallback_passages=3,
)
RETRIEVER = {
    "lexical": {"depth": 20},
    "dense": {"depth": 20},
    "graph": {"depth": 20},
    "rrf_k": 60,
    "rerank": {"depth": 6, "first_stage": 4},
    "returned": 5,
}


def corpus():
    """Yield 24 passages in 6 documents, each with a mark and a name that stand nowhere else, and their names."""
    for n in range(24):
        names = [*NAMES[n % 2 * 2 :][:2], f"Own{n} Name"]
        text = f"mark{n}x saw {names[0]} in Rome. {names[1]} met {names[2]}."
        passage = Passage(
            passage_id=f"d{n // 4}#{n % 4}",
            doc_id=f"d{n // 4}",
            title=f"page {n // 4}",
            heading=None,
            kind="text",
            ordinal=n % 4,
            start=0,
            end=len(text),
            text=text,
        )
        yield passage, names


PASSAGES = [passage for passage, _ in corpus()]
IDS = [passage.passage_id for passage in PASSAGES]


class Told:
    """Stands for embedder, cross-encoder, verifier and reader; keeps every text that it is given."""

    name = "fake"
    labels = ["relevant"]

    def __init__(self):
        self.texts = []

    def _value(self, text):
        self.texts.append(text)
        return zlib.crc32(text.encode()) % 1000 / 1000

    def encode(self, texts):
        rows = np.array([np.random.default_rng(zlib.crc32(t.encode())).normal(size=8) for t in texts]).reshape(-1, 8)
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)

    def scores(self, pairs):
        return np.array([[self._value(f"{first} {second}")] for first, second in pairs])

    def entail(self, pairs, leads):
        return [Entailment(self._value(f"{premise} {claim}")) for premise, claim in pairs]

    def read(self, question, context):
        self.texts += [text for _, text in context]
        found = [SimpleNamespace(text=text, probability=0.5, sentences=[i]) for i, (_, text) in enumerate(context)]
        return found, 1


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    """Stages over the corpus, and the stand-in of the models."""
    folder = tmp_path_factory.mktemp("leak")
    names = {passage.passage_id: some for passage, some in corpus()}
    write_passages(folder / "passages.parquet", PASSAGES, folder / "passages.arrow")
    write_annotations(
        folder / "annotations.parquet",
        (
            Annotation(passage_id=p, name=name, origin="passage")
            for p, some in names.items()
            for name in dict.fromkeys(some)
        ),
    )
    told = Told()
    named = with_names(PASSAGES, read_annotations(folder / "annotations.parquet"), "annotations")
    analysis = {"stem": False, "stopwords": False, "fold_accents": False}
    sparse.build(named, folder / "sparse", threads=1, heap_mb=15, **analysis)
    np.save(folder / "vectors.npy", told.encode([passage.text for passage in PASSAGES]))
    vectors = Vectors.open([folder / "vectors.npy"])
    dense.build(vectors, PassageIds(pa.array(IDS)), folder / "dense", {"type": "flat"}, threads=1)
    index_names(folder / "annotations.parquet", IDS, folder / "graph" / "nodes.parquet")
    index = NameIndex.open(folder / "graph" / "nodes.parquet", len(IDS))
    graph.build(index, folder / "graph" / "edges.parquet", min_count=1, smoothing=0, names_per_passage=9)
    store = PassageStore.open(folder / "passages.arrow")
    retriever = graph.GraphRetriever.open(folder / "graph", IDS, 20)
    pipe = pipeline.build(
        RETRIEVER,
        sparse.SparseRetriever(folder / "sparse", {"text": 1.0, "entities": 1.0}, 20),
        dense.DenseRetriever(folder / "dense", vectors, told, 20, {"device": "cpu"}, threads=1),
        CrossEncoderReranker(told, store, **RETRIEVER["rerank"]),
        retriever,
    )
    return searching(pipe, store, index, retriever) | checking(told) | reading(told), told


def prying_policy(replies, excluded):
    """Return a policy that uses every tool, and asks for excluded passages outright as well."""

    def policy(question):
        for call in (
            Search(query=question.text, neighbours=2),
            Search(query=f"Rome {' '.join(NAMES)}", neighbours=1),
            *(EntitySearch(name=name) for name in (*NAMES, "Ann", "Name", "Own3 Name")),
        ):
            reply = yield call
            replies.append(reply)
            for passage in (*reply.passages, *(p for beside in reply.neighbours.values() for p in beside)):
                replies.append((yield Read(passage_id=passage.passage_id, question="zzz")))
                yield RecordNugget(passage_id=passage.passage_id, quotes=[passage.text], claim=question.text)
                yield ProposeAnswers(question="?", sentences=[Sentence(passage_id="", title="", text=passage.text)])
        for passage_id in sorted(excluded):
            replies.append((yield Read(passage_id=passage_id, question="Rome")))
            yield RecordNugget(passage_id=passage_id, quotes=["Rome"], claim="Rome")

    return policy


EARLIER = Trace(
    collection="c",
    system="s",
    qid="q",
    pass_number=1,
    excluded=[],
    events=[],
    nuggets=[],
    submissions=[Submission(turn=1, text="Rome", passage_ids=[], confidence=0.9, accepted=True, reasons=[])],
    retrieved={},
    answer="Rome",
    confidence=0.9,
    confidence_rule="r",
    stop_reason="accepted",
    status="ok",
    usage=Usage(),
)


def pried(opened, excluded):
    """Return the trace of a prying pass, its replies, and all texts that models were given."""
    world, told = opened
    told.texts.clear()
    replies = []
    limits = msgspec.structs.replace(SETTINGS, limits=Limits(turns=10**6, tokens=10**6, transcript=1, seconds=None))
    steps = EvidencePass(QUESTION, prying_policy(replies, excluded), limits, 2, frozenset(excluded), [EARLIER])
    finished = []
    asyncio.run(drive([steps.run("c", "s")], world, {}, 1, finished.append))
    [trace] = finished
    assert trace.status == "ok"
    return trace, replies, told.texts


@given(excluded=st.sets(st.sampled_from(IDS), max_size=len(IDS)))
@settings(max_examples=25, deadline=None)
def test_excluded_passages_appear_nowhere(opened, excluded):
    trace, replies, texts = pried(opened, excluded)
    marks = [f"mark{IDS.index(passage_id)}x" for passage_id in excluded]
    own = [f"Own{IDS.index(passage_id)} Name" for passage_id in excluded]
    # what the policy asks for by name is its own word, not the world's
    seen = msgspec.json.encode(msgspec.structs.replace(trace, excluded=[])).decode() + "\n".join(texts)
    seen += msgspec.json.encode([r for r in replies if r.problem is None]).decode()
    asked = [event.name for event in trace.events if isinstance(event, EntitySearchEvent)]
    assert [mark for mark in marks if mark in seen] == []
    assert [name for name in own if name in seen and name not in asked] == []
    told = {hit.passage_id for event in trace.events for hit in getattr(event, "hits", [])}
    told |= {p for e in trace.events if isinstance(e, SearchEvent) for beside in e.neighbours.values() for p in beside}
    told |= {nugget.passage_id for nugget in trace.nuggets} | set(trace.retrieved)
    told |= {passage_id for submission in trace.submissions for passage_id in submission.passage_ids}
    assert not told & excluded


def test_the_prying_policy_sees_everything_that_is_not_excluded(opened):
    """Without this, the test above could pass on a world that returns nothing."""
    trace, _, texts = pried(opened, set())
    searches = [event for event in trace.events if isinstance(event, SearchEvent)]
    assert all(event.graph_names for event in searches)
    assert any("graph" in sources for event in searches for sources in event.sources)
    assert any(event.neighbours for event in searches)
    assert all(event.hits and event.names for event in trace.events if isinstance(event, EntitySearchEvent))
    assert trace.submissions[-1].origin == "fallback"
    assert len({mark for mark in (f"mark{n}x" for n in range(24)) if any(mark in text for text in texts)}) > 12
