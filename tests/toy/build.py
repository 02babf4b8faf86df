"""Build the toy collections from the shipped ones.

    PYTHONPATH=workflow/src python tests/toy/build.py

Each holds QUESTIONS test questions, the documents that support them, and distractors: for film DISTRACTORS articles
drawn by SEED; for the others the neighbours in the file, which come from the context of the same question.
"""

from __future__ import annotations

import sys
from pathlib import Path

from calibrag.collections.splitting import draw_order
from calibrag.records import Document, Question, read_jsonl, write_jsonl
from calibrag.retrieval.runs import read_run, write_run

SEED = 7
QUESTIONS = 12
MOST_FACTS = 4
DISTRACTORS = 150
NEIGHBOURS = 4
SHIPPED = Path(__file__).parents[2] / "workflow" / "resources" / "collections"


def choose_questions(path: Path) -> list[Question]:
    """Return the first test questions in a seeded order that have few supporting facts, in file order."""
    few = [q for q in read_jsonl(path, Question) if q.split == "test" and len(q.support) <= MOST_FACTS]
    kept = set(draw_order((question.qid for question in few), SEED)[:QUESTIONS])
    return [question for question in few if question.qid in kept]


def choose_documents(documents: list[Document], questions: list[Question], collection: str) -> list[Document]:
    """Return the supporting documents and the distractors, in file order."""
    support = {fact.doc_id for question in questions for fact in question.support}
    if collection == "film":
        kept = support | set(draw_order((document.doc_id for document in documents), SEED)[:DISTRACTORS])
    else:
        places = [place for place, document in enumerate(documents) if document.doc_id in support]
        near = {at for place in places for at in range(place - NEIGHBOURS, place + NEIGHBOURS + 1)}
        kept = {document.doc_id for place, document in enumerate(documents) if place in near}
    return [document for document in documents if document.doc_id in kept]


def build(target: Path) -> None:
    """Write {documents,questions}.jsonl.xz of each collection, and the part of a published ranking."""
    for collection in ("film", "hotpotqa-open", "hotpotqa-pooled"):
        questions = choose_questions(SHIPPED / collection / "questions.jsonl.xz")
        documents = list(read_jsonl(SHIPPED / collection / "documents.jsonl.xz", Document))
        chosen = choose_documents(documents, questions, collection)
        write_jsonl(target / collection / "documents.jsonl.xz", chosen)
        write_jsonl(target / collection / "questions.jsonl.xz", questions)
        for file in (SHIPPED / collection).glob("published_*.txt.xz"):
            ranked = read_run(file)
            write_run(target / collection / file.name, {q.qid: ranked[q.qid] for q in questions}, "published")


if __name__ == "__main__":
    build(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
