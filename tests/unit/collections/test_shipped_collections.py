"""The collections that ship: splits, support, licences, and that they are what the build scripts make."""

import hashlib
import os
import runpy
from collections import Counter
from pathlib import Path

import msgspec
import pytest

from calibrag.collections.reading import read_documents, read_questions
from calibrag.collections.splitting import question_key
from calibrag.corpus.chunking import chunk
from calibrag.corpus.support import qrels
from calibrag.records import Document, Question, open_text, read_jsonl

ROOT = Path(__file__).parents[3]
RESOURCES = ROOT / "workflow" / "resources"
SHIPPED = RESOURCES / "collections"
COLLECTIONS = ("film", "hotpotqa-open", "hotpotqa-pooled")
ANSWERED = {"film": True, "hotpotqa-open": True, "hotpotqa-pooled": False}
COUNTS = {
    "film": (5_329, {"test": 101, "dev": 35, "train": 69}),
    "hotpotqa-open": (8_631, {"test": 150, "dev": 43, "train": 202}),
    "hotpotqa-pooled": (4_937, {"test": 467, "dev": 2, "train": 31}),
}
SOURCE = os.environ.get("CALIBRAG_SOURCE_DATA")


@pytest.fixture(scope="module", params=COLLECTIONS)
def name(request):
    return request.param


@pytest.fixture(scope="module")
def questions(name):
    return list(read_jsonl(SHIPPED / name / "questions.jsonl.xz", Question))


@pytest.fixture(scope="module")
def documents(name):
    return list(read_jsonl(SHIPPED / name / "documents.jsonl.xz", Document))


@pytest.mark.parametrize("split", ["test", "dev", "train"])
def test_the_validator_accepts_every_split(name, split):
    count, splits = COUNTS[name]
    documents, questions = (str(SHIPPED / name / f"{kind}.jsonl.xz") for kind in ("documents", "questions"))
    assert len(read_questions("jsonl", questions, documents, ANSWERED[name], split, None, 0)) == splits[split]
    assert sum(1 for _ in read_documents("jsonl", documents)) == count


def test_the_readme_states_the_counts(name, questions):
    count, splits = COUNTS[name]
    assert Counter(question.split for question in questions) == splits
    line = next(line for line in (SHIPPED / "README.md").read_text().splitlines() if line.startswith(f"| `{name}/`"))
    assert f"{count:,}" in line
    assert " / ".join(str(splits[split]) for split in ("test", "dev", "train")) in line


def test_no_question_is_in_two_splits_by_qid_or_by_text(questions):
    assert len({question.qid for question in questions}) == len(questions)
    assert len({question_key(question.text) for question in questions}) == len(questions)


def test_no_film_table_is_in_two_splits():
    tables: dict[str, set[str]] = {}
    pages = {d.doc_id for d in read_jsonl(SHIPPED / "film" / "documents.jsonl.xz", Document) if len(d.sections) > 1}
    for question in read_jsonl(SHIPPED / "film" / "questions.jsonl.xz", Question):
        (table,) = {fact.doc_id for fact in question.support} & pages
        tables.setdefault(table, set()).add(question.split)
    assert len(pages) == 201
    assert all(len(splits) == 1 for splits in tables.values())


def test_every_supporting_fact_is_held_by_a_passage(documents, questions):
    wanted = {fact.doc_id for question in questions for fact in question.support}
    passages = [p for d in documents if d.doc_id in wanted for p in chunk(d, 200, 300)]
    judged, unmatched = qrels(questions, passages)
    assert unmatched == []
    assert {qid for qid, *_ in judged} == {question.qid for question in questions}
    assert all(question.support for question in questions)


def test_no_question_that_an_adapter_was_trained_on_is_for_testing(questions):
    files = (RESOURCES / "adapters").glob("*/train.jsonl.xz")
    pairs = [msgspec.json.decode(line) for file in files for line in open_text(file)]
    ids = {pair.get("group") or pair["qid"] for pair in pairs}
    words = {question_key(text) for pair in pairs for text in (pair.get("question"), pair.get("first")) if text}
    held_out = [question for question in questions if question.split == "test"]
    assert [question.qid for question in held_out if question.qid in ids or question_key(question.text) in words] == []


def test_toy_slices_hold_the_support_of_their_questions(name):
    toy = ROOT / "tests" / "toy" / name
    documents, questions = (str(toy / f"{kind}.jsonl.xz") for kind in ("documents", "questions"))
    assert len(read_questions("jsonl", questions, documents, ANSWERED[name], "test", None, 0)) == 12
    assert 140 <= sum(1 for _ in read_documents("jsonl", documents)) <= 200


def test_the_notice_lists_every_shipped_file_with_its_hash():
    notice = (SHIPPED / "NOTICE").read_text()
    files = sorted(SHIPPED.glob("*/*"))
    assert len(files) == 8
    for file in files:
        sha256 = hashlib.sha256(file.read_bytes()).hexdigest()
        assert f"{file.relative_to(SHIPPED)}    sha256 {sha256}" in notice, f"write the new hash of {file} into NOTICE"


@pytest.mark.skipif(
    not (SOURCE and Path(SOURCE).is_dir()), reason="CALIBRAG_SOURCE_DATA names no folder with the source data"
)
@pytest.mark.parametrize("collection", COLLECTIONS)
def test_the_build_scripts_make_the_shipped_files(tmp_path, collection):
    script = RESOURCES / "build" / f"{collection.replace('-', '_')}.py"
    runpy.run_path(str(script))["build"](Path(SOURCE), tmp_path)
    for file in (SHIPPED / collection).iterdir():
        assert (tmp_path / file.name).read_bytes() == file.read_bytes()


def test_the_toy_script_makes_the_toy_slices(tmp_path):
    runpy.run_path(str(ROOT / "tests" / "toy" / "build.py"))["build"](tmp_path)
    for name in COLLECTIONS:
        for file in (ROOT / "tests" / "toy" / name).iterdir():
            assert (tmp_path / name / file.name).read_bytes() == file.read_bytes()
