"""The validator of the collection format: every error by what it says."""

import gzip
import json
import lzma

import pytest

from calibrag.collections.reading import read_documents, read_questions
from calibrag.errors import InputError
from calibrag.records import write_jsonl

DOCUMENTS = [
    {"doc_id": "alien", "title": "Alien", "sections": [{"blocks": [{"kind": "text", "text": "A film."}]}]},
    {
        "doc_id": "cast",
        "title": "Cast",
        "sections": [{"heading": "Roles", "blocks": [{"kind": "table", "header": ["A", "B"], "rows": [["x", "y"]]}]}],
    },
]
QUESTIONS = [
    {"qid": "q1", "text": "Who?", "answers": ["Ripley"], "support": [{"doc_id": "cast", "quote": "x | y"}]},
    {"qid": "q2", "text": "What?", "answers": [], "supported": False, "support": [{"doc_id": "removed"}]},
    {"qid": "q3", "text": "When?", "answers": ["1979"], "split": "train"},
]


def lines(entries):
    return "".join((entry if isinstance(entry, str) else json.dumps(entry)) + "\n" for entry in entries)


@pytest.fixture
def read(tmp_path):
    """Read a collection written from these records; a text stands for a raw line."""

    def read(documents=DOCUMENTS, questions=QUESTIONS, split="test", limit=None, seed=0, answered=True):
        (tmp_path / "documents.jsonl").write_text(lines(documents), encoding="utf-8")
        (tmp_path / "questions.jsonl").write_text(lines(questions), encoding="utf-8")
        return collection(tmp_path / "documents.jsonl", tmp_path / "questions.jsonl", split, limit, seed, answered)

    return read


def collection(documents, questions, split="test", limit=None, seed=0, answered=True):
    """Read documents and questions as the two rules do."""
    checked = documents.with_name("checked.jsonl.gz")
    read = list(read_documents("jsonl", str(documents)))
    write_jsonl(checked, read)
    return read, read_questions("jsonl", str(questions), checked, answered, split, limit, seed)


def changed(entries, number, **fields):
    """The records, with fields of one of them changed; a field of None is left out."""
    entry = {name: value for name, value in {**entries[number], **fields}.items() if value is not None}
    return [*entries[:number], entry, *entries[number + 1 :]]


def test_a_collection_is_read_in_file_order(read):
    documents, questions = read()
    assert [document.doc_id for document in documents] == ["alien", "cast"]
    assert [question.qid for question in questions] == ["q1", "q2"]
    assert [question.qid for question in read(split="train")[1]] == ["q3"]


def test_questions_for_retrieval_alone_need_no_answers(read):
    questions = changed(QUESTIONS, 0, answers=[])
    assert [question.answers for question in read(questions=questions, answered=False)[1]] == [[], []]
    with pytest.raises(InputError, match=r"questions\.jsonl:1: answers: must hold an answer.*key answers to false"):
        read(questions=questions)


def test_blank_lines_are_passed_over_but_counted(read):
    with pytest.raises(InputError, match=r"documents\.jsonl:3: not a line of JSON"):
        read(documents=[DOCUMENTS[0], "", "{"])


def test_a_question_may_want_a_set_of_answers(read):
    _, questions = read(questions=[QUESTIONS[0] | {"answers": ["Ripley", "Ash"], "answer_kind": "set"}])
    assert (questions[0].answer_kind, questions[0].answers) == ("set", ["Ripley", "Ash"])


@pytest.mark.parametrize(
    "documents, message",
    [
        ([*DOCUMENTS, '{"doc_id": "half'], r"documents\.jsonl:3: not a line of JSON \(JSON is malformed"),
        (
            changed(DOCUMENTS, 0, titel="x"),
            r"documents\.jsonl:1: .*unknown field `titel` \(allowed: doc_id, title, sections\)",
        ),
        (changed(DOCUMENTS, 0, title=None), r"documents\.jsonl:1: .*missing required field `title`"),
        (changed(DOCUMENTS, 1, title=7), r"documents\.jsonl:2: title: Expected `str`, got `int`"),
        (
            changed(DOCUMENTS, 1, sections=[{"blocks": [{"kind": "image"}]}]),
            r"documents\.jsonl:2: sections\[0\]\.blocks\[0\]\.kind: Invalid value 'image'",
        ),
        (changed(DOCUMENTS, 1, doc_id="alien"), r":2: doc_id: 'alien' is used twice, first on line 1"),
        (changed(DOCUMENTS, 1, doc_id="the cast"), r":2: doc_id: must hold no whitespace .* \(got 'the cast'\)"),
        (changed(DOCUMENTS, 1, doc_id="a;b"), r":2: doc_id: must hold no whitespace and no semicolon"),
        (changed(DOCUMENTS, 1, doc_id="a\u00a0b"), r":2: doc_id: must hold no whitespace"),
        (changed(DOCUMENTS, 1, doc_id=""), r":2: doc_id: must not be empty"),
        (changed(DOCUMENTS, 1, title=" "), r":2: title: must not be blank"),
        (changed(DOCUMENTS, 1, sections=[]), r":2: sections: the document is empty"),
        (
            changed(DOCUMENTS, 0, sections=[{"heading": "H", "blocks": [{"kind": "text", "text": "\n "}]}]),
            r":1: sections: the document is empty",
        ),
        (
            changed(DOCUMENTS, 0, sections=[{"blocks": [{"kind": "table", "header": [""], "rows": [[" "]]}]}]),
            r":1: sections: the document is empty",
        ),
        (
            changed(DOCUMENTS, 1, sections=[{"blocks": [{"kind": "table", "header": ["A"], "rows": [["x"], []]}]}]),
            r":2: sections\[0\]\.blocks\[0\]\.rows\[1\]: must have 1 cells as the header has \(got 0\)",
        ),
        ([], r"documents\.jsonl: holds no document"),
    ],
)
def test_wrong_documents_are_refused(read, documents, message):
    with pytest.raises(InputError, match=message):
        read(documents=documents)


@pytest.mark.parametrize(
    "questions, message",
    [
        ([*QUESTIONS, "not json"], r"questions\.jsonl:4: not a line of JSON"),
        (changed(QUESTIONS, 0, answer="x"), r"questions\.jsonl:1: .*unknown field `answer`"),
        (changed(QUESTIONS, 0, answers="Ripley"), r":1: answers: Expected `array`, got `str`"),
        (changed(QUESTIONS, 0, split="eval"), r":1: split: Invalid enum value 'eval'"),
        (changed(QUESTIONS, 1, qid="q1"), r":2: qid: 'q1' is used twice, first on line 1"),
        (changed(QUESTIONS, 1, qid="q 2"), r":2: qid: must hold no whitespace"),
        (changed(QUESTIONS, 1, text=" \n"), r":2: text: must not be blank"),
        (changed(QUESTIONS, 0, answers=[]), r":1: answers: must hold an answer; .* set supported to false"),
        (changed(QUESTIONS, 0, answers=["a", " "]), r":1: answers: an answer must not be blank"),
        (
            changed(QUESTIONS, 0, support=[{"doc_id": "cast"}, {"doc_id": "prometheus"}]),
            r":1: support\[1\]\.doc_id: names 'prometheus', which is not among the documents",
        ),
        (
            changed(QUESTIONS, 0, support=[{"doc_id": "cast", "quote": ""}]),
            r":1: support\[0\]\.quote: must not be blank; null means the whole document",
        ),
        ([], r"questions\.jsonl: holds no question"),
    ],
)
def test_wrong_questions_are_refused(read, questions, message):
    with pytest.raises(InputError, match=message):
        read(questions=questions)


def test_one_error_lists_all_problems_of_a_file_up_to_twenty(read):
    with pytest.raises(InputError) as caught:
        read(documents=[changed(DOCUMENTS, 0, title=" ")[0], "{", changed(DOCUMENTS, 1, doc_id="a b")[1]])
    first, more, second, third = str(caught.value).splitlines()
    assert first.endswith("documents.jsonl:1: title: must not be blank")
    assert (caught.value.line, caught.value.field, more) == (1, "title", "2 more:")
    assert ":2: not a line of JSON" in second and ":3: doc_id: must hold no whitespace" in third
    with pytest.raises(InputError, match=r"\n24 more:(\n.*){19}\n  and 5 that are not listed$"):
        read(questions=["{"] * 25)


def test_a_missing_file_says_what_to_do(tmp_path):
    with pytest.raises(InputError, match=r"absent\.jsonl: no such file; correct the path in config\.yaml"):
        collection(tmp_path / "absent.jsonl", tmp_path / "absent.jsonl")


@pytest.mark.parametrize("suffix, compress", [(".gz", gzip.compress), (".xz", lzma.compress)])
def test_a_compressed_file_is_read_and_a_cut_one_is_refused(tmp_path, suffix, compress):
    questions = tmp_path / "questions.jsonl"
    questions.write_text(lines(QUESTIONS))
    documents = tmp_path / f"documents.jsonl{suffix}"
    whole = compress(lines(DOCUMENTS).encode())
    documents.write_bytes(whole)
    assert len(collection(documents, questions)[0]) == 2
    documents.write_bytes(whole[:-20])
    with pytest.raises(InputError, match="unreadable after line"):
        collection(documents, questions)
    documents.write_bytes(b"plain text")
    with pytest.raises(InputError, match="unreadable after line 0"):
        collection(documents, questions)


def test_text_that_is_not_utf8_is_refused(tmp_path):
    path = tmp_path / "documents.jsonl"
    path.write_bytes(lines(DOCUMENTS).encode() + b'{"doc_id": "\xff"}\n')
    with pytest.raises(InputError, match=f"jsonl:{len(DOCUMENTS) + 1}: .*Invalid UTF-8"):
        collection(path, path)


def test_a_byte_order_mark_is_passed_over(tmp_path):
    documents, questions = tmp_path / "documents.jsonl", tmp_path / "questions.jsonl"
    documents.write_bytes(b"\xef\xbb\xbf" + lines(DOCUMENTS).encode())
    questions.write_text(lines(QUESTIONS))
    assert len(collection(documents, questions)[0]) == len(DOCUMENTS)


def test_a_folder_in_place_of_a_file_is_refused(tmp_path):
    with pytest.raises(InputError, match="is a folder"):
        collection(tmp_path, tmp_path)


def test_a_split_without_questions_is_refused(read):
    with pytest.raises(InputError, match="no question of the split 'dev': choose another split"):
        read(split="dev")


def many(count):
    return [{"qid": f"q{number}", "text": "Who?", "answers": ["a"]} for number in range(count)]


def test_a_limit_draws_a_seeded_sample_in_file_order(read):
    drawn = [question.qid for question in read(questions=many(50), limit=10, seed=1)[1]]
    assert len(drawn) == 10
    assert drawn == sorted(drawn, key=lambda qid: int(qid[1:]))
    assert drawn == [question.qid for question in read(questions=many(50), limit=10, seed=1)[1]]
    assert drawn != [question.qid for question in read(questions=many(50), limit=10, seed=2)[1]]
    assert len(read(questions=many(5), limit=10)[1]) == 5


def test_a_question_more_changes_at_most_one_question_of_the_sample(read):
    before = {question.qid for question in read(questions=many(50), limit=10)[1]}
    after = {question.qid for question in read(questions=many(51), limit=10)[1]}
    assert len(before - after) <= 1


def test_documents_are_streamed(tmp_path):
    path = tmp_path / "documents.jsonl"
    path.write_text(lines([*DOCUMENTS, "{"]))
    documents = read_documents("jsonl", str(path))
    assert next(documents).doc_id == "alien"
    assert next(documents).doc_id == "cast"
    with pytest.raises(InputError, match="not a line of JSON"):
        next(documents)


def test_nothing_is_left_of_a_file_that_breaks_off(tmp_path):
    path = tmp_path / "documents.jsonl"
    path.write_text(lines([*DOCUMENTS, "{"]))
    with pytest.raises(InputError):
        write_jsonl(tmp_path / "out" / "documents.jsonl.gz", read_documents("jsonl", str(path)))
    assert list((tmp_path / "out").iterdir()) == []


def test_several_files_are_one_collection_and_an_id_in_two_of_them_is_refused(tmp_path):
    first, second = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    first.write_text(lines(DOCUMENTS))
    second.write_text(lines([{**DOCUMENTS[0], "doc_id": "other"}]))
    paths = [str(first), str(second)]
    assert [document.doc_id for document in read_documents("jsonl", paths)] == ["alien", "cast", "other"]
    second.write_text(lines(DOCUMENTS[:1]))
    with pytest.raises(InputError, match=r"b\.jsonl:1: doc_id: 'alien' is used twice, first in .*a\.jsonl:1"):
        list(read_documents("jsonl", paths))
