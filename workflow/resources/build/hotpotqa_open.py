"""Build the shipped collection ``hotpotqa-open`` from HotpotQA's distractor setting and a pool of paragraphs.

    python workflow/resources/build/hotpotqa_open.py SOURCE_FOLDER [TARGET_FOLDER]

SOURCE_FOLDER holds hotpotqa/distractor_sentences.jsonl and
hotpotqa/pooled500_retrieval/pooled_corpus_validation_500_title_text.jsonl.gz. The same source gives the same bytes.
Splits: HotpotQA's own development questions are drawn in an order fixed by SEED, the first TEST are the test split,
the others the dev split; its training questions stay training questions, since adapters and prompts may use them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec

from calibrag.collections import hotpotqa
from calibrag.collections.splitting import assign_splits, question_key
from calibrag.records import Question, open_text, write_jsonl

SEED = 20260
TEST = 150
TARGET = Path(__file__).parents[1] / "collections" / "hotpotqa-open"


def read(path: Path) -> list[dict]:
    """Return the lines of a JSON Lines file."""
    with open_text(path) as lines:
        return [msgspec.json.decode(line) for line in lines]


def questions(entries: list[dict]) -> Iterator[Question]:
    """Yield the questions with support and split; of questions with the same words the first is kept."""
    entries = list({question_key(entry["question"]): entry for entry in reversed(entries)}.values())[::-1]
    held_out = {entry["id"]: entry["id"] for entry in entries if entry["split"] == "dev"}
    splits = assign_splits(held_out, {"test": TEST}, "dev", SEED)
    for entry in entries:
        yield hotpotqa.question(entry, splits.get(entry["id"], "train"))


def build(source: Path, target: Path) -> None:
    """Write documents.jsonl.xz and questions.jsonl.xz."""
    folder = source / "hotpotqa"
    entries = read(folder / "distractor_sentences.jsonl")
    pool = read(folder / "pooled500_retrieval" / "pooled_corpus_validation_500_title_text.jsonl.gz")
    write_jsonl(target / "documents.jsonl.xz", hotpotqa.documents(entries, pool, str(folder)))
    write_jsonl(target / "questions.jsonl.xz", questions(entries))


if __name__ == "__main__":
    build(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else TARGET)
