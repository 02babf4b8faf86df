"""Build the shipped collection ``film`` from the film subset of OTT-QA.

    python workflow/resources/build/film.py SOURCE_FOLDER [TARGET_FOLDER]

SOURCE_FOLDER holds ottqa/film_{tables,passages}.jsonl.gz and ottqa/film_questions.jsonl. The same source gives the
same bytes.

Documents: every table, and every article that a cell of one links to or an answer stands in. Splits: tables (with
all of their questions) are drawn in an order fixed by SEED; the first to reach TEST questions are the test split, the
next to reach DEV the dev split, the rest is for training.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec

from calibrag.collections import ottqa
from calibrag.collections.splitting import assign_splits, question_key
from calibrag.corpus.chunking import render_row
from calibrag.records import Question, open_text, write_jsonl

SEED = 20260
TEST = 100
DEV = 35
TARGET = Path(__file__).parents[1] / "collections" / "film"


def read(path: Path) -> list[dict]:
    """Return the lines of a JSON Lines file."""
    with open_text(path) as lines:
        return [msgspec.json.decode(line) for line in lines]


def questions(entries: list[dict], tables: list[dict], articles: list[dict]) -> Iterator[Question]:
    """Yield the questions with support and split; of questions with the same words the first is kept."""
    entries = list({question_key(entry["question"]): entry for entry in reversed(entries)}.values())[::-1]
    splits = assign_splits(
        {entry["id"]: entry["table_id"] for entry in entries}, {"test": TEST, "dev": DEV}, "train", SEED
    )
    tables_by_id = {table["table_id"]: table for table in tables}
    articles_by_id = {article["id"]: article for article in articles}
    for entry in entries:
        yield ottqa.question(entry, tables_by_id, articles_by_id, render_row, splits[entry["id"]])


def needed(tables: list[dict], articles: list[dict], entries: list[dict]) -> list[dict]:
    """Return the articles that a cell of a table links to, or in which an answer stands."""
    rows = (row for table in tables for row in [table["header"], *table["data"]])
    wanted = {link for row in rows for _, links in row for link in links}
    wanted |= {node["passage_id"] for entry in entries for node in entry["answer_nodes"]}
    return [article for article in articles if article["id"] in wanted]


def build(source: Path, target: Path) -> None:
    """Write documents.jsonl.xz and questions.jsonl.xz."""
    tables = read(source / "ottqa" / "film_tables.jsonl.gz")
    entries = read(source / "ottqa" / "film_questions.jsonl")
    articles = needed(tables, read(source / "ottqa" / "film_passages.jsonl.gz"), entries)
    write_jsonl(target / "documents.jsonl.xz", ottqa.documents(tables, articles, str(source / "ottqa")))
    write_jsonl(target / "questions.jsonl.xz", questions(entries, tables, articles))


if __name__ == "__main__":
    build(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else TARGET)
