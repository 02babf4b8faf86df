"""Build the shipped collection ``hotpotqa-pooled``, with the rankings that its makers published.

    python workflow/resources/build/hotpotqa_pooled.py SOURCE_FOLDER [TARGET_FOLDER]

SOURCE_FOLDER holds hotpotqa/pooled500_retrieval/. Writes documents.jsonl.xz and questions.jsonl.xz,
published_bm25.txt.xz (their BM25 ranking, a TREC run of documents) and published.csv (the means that they print). The
same source gives the same bytes.

The source has gold titles and no answers: the collection is for retrieval alone, and a whole gold paragraph is a
supporting fact. Splits: ``train`` where a shipped adapter was trained on the question, by qid or by its words; ``dev``
where an adapter was chosen by it, or a shipped collection has it as ``dev``; ``test`` otherwise.
"""

from __future__ import annotations

import csv
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec

from calibrag.collections.hotpotqa import clean_title, documents
from calibrag.collections.identifiers import title_to_id
from calibrag.collections.splitting import question_key
from calibrag.records import Hit, Question, Support, open_text, read_jsonl, write_jsonl
from calibrag.retrieval.runs import write_run

RESOURCES = Path(__file__).parents[1]
TARGET = RESOURCES / "collections" / "hotpotqa-pooled"
ADAPTERS = ("reader", "reranker", "verifier")
BETWEEN_TITLES = " | "


def read(path: Path) -> list[dict]:
    """Return the lines of a JSON Lines file."""
    with open_text(path) as lines:
        return [msgspec.json.decode(line) for line in lines]


def used(file: str) -> set[str]:
    """Return qids and question words of the adapters' pair files of this name."""
    entries = [entry for name in ADAPTERS for entry in read(RESOURCES / "adapters" / name / file)]
    texts = [entry.get(field) for entry in entries for field in ("question", "first", "second")]
    return {entry.get("group") or entry["qid"] for entry in entries} | {question_key(text) for text in texts if text}


def doc_ids(titles: str) -> list[str]:
    """Return the documents that a field of the source lists."""
    return [title_to_id(clean_title(title)) for title in titles.split(BETWEEN_TITLES)]


def questions(rows: list[dict]) -> Iterator[Question]:
    """Yield the questions with support and split."""
    trained, chosen = used("train.jsonl.xz"), used("dev.jsonl.xz")
    for question in read_jsonl(RESOURCES / "collections/hotpotqa-open/questions.jsonl.xz", Question):
        (trained if question.split == "train" else chosen if question.split == "dev" else set()).add(question.qid)
    for row in rows:
        keys = {row["example_id"], question_key(row["question"])}
        yield Question(
            qid=row["example_id"],
            text=" ".join(row["question"].split()),
            type=row["question_type"],
            answers=[],
            support=[Support(doc_id=doc_id) for doc_id in doc_ids(row["gold_titles"])],
            split="train" if keys & trained else "dev" if keys & chosen else "test",
        )


def build(source: Path, target: Path) -> None:
    """Write the four files."""
    folder = source / "hotpotqa" / "pooled500_retrieval"
    with open_text(folder / "bm25_results.csv.gz") as lines:
        rows = [row for row in csv.DictReader(lines) if row["setting"] == "pooled"]
    pool = read(folder / "pooled_corpus_validation_500_title_text.jsonl.gz")
    write_jsonl(target / "documents.jsonl.xz", documents([], pool, str(folder)))
    write_jsonl(target / "questions.jsonl.xz", questions(rows))
    # the source has no scores: the reciprocal of the rank keeps the order
    ranked = {
        row["example_id"]: [Hit(d, rank, 1 / rank) for rank, d in enumerate(doc_ids(row["retrieved_titles"]), start=1)]
        for row in rows
    }
    write_run(target / "published_bm25.txt.xz", ranked, "bm25")
    shutil.copyfile(folder / "main_results_v1.csv", target / "published.csv")


if __name__ == "__main__":
    build(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else TARGET)
