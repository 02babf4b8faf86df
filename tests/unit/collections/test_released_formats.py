"""Data sets as they are released: HotpotQA, 2WikiMultihopQA, MuSiQue, OTT-QA, R2C2."""

import gzip
import json

import pytest

from calibrag.collections.reading import read_documents, read_questions
from calibrag.errors import InputError
from calibrag.records import Question, Section, Support, TextBlock, write_jsonl

HOTPOTQA = [
    {
        "_id": "q1",
        "question": "Who sang?",
        "answer": "Hall",
        "type": "bridge",
        "level": "easy",
        "context": [["Duo", ["They are two.", " Hall sings."]], ["Alien", ["A film."]]],
        "supporting_facts": [["Duo", 1], ["Alien", 7]],
    },
    {
        "_id": "q2",
        "question": "What?",
        "answer": "yes",
        "type": "comparison",
        "context": [["Alien", ["A film."]], ["Duo", ["Other text."]]],
        "supporting_facts": [["Alien", 0]],
        "split": "dev",
    },
]
MUSIQUE = [
    {
        "id": "2hop__1_2",
        "question": "Who?",
        "answer": "A",
        "answer_aliases": ["B", "A"],
        "answerable": True,
        "paragraphs": [
            {"idx": 0, "title": "T", "paragraph_text": "One.", "is_supporting": True},
            {"idx": 1, "title": "T", "paragraph_text": "Two.", "is_supporting": False},
            {"idx": 2, "title": "U", "paragraph_text": " ", "is_supporting": False},
        ],
    },
    {"id": "2hop__1_2", "question": "Who?", "answer": "A", "answerable": False, "paragraphs": []},
]


@pytest.fixture
def write(tmp_path):
    def write(name, text):
        path = tmp_path / name
        path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
        return str(path)

    return write


def jsonl(entries):
    return "".join(json.dumps(entry) + "\n" for entry in entries)


def texts(documents):
    return {d.doc_id: [b.text for s in d.sections for b in s.blocks] for d in documents}


def questions(form, path, tmp_path, split="test"):
    write_jsonl(tmp_path / "documents.jsonl", read_documents(form, path))
    return read_questions(form, path, tmp_path / "documents.jsonl", True, split, None, 0)


@pytest.mark.parametrize("form", ["hotpotqa", "2wikimultihopqa"])
@pytest.mark.parametrize("name", ["array.json", "array.json.gz", "lines.jsonl", "lines.jsonl.gz"])
def test_contexts_are_pooled_by_title_and_support_is_found_in_them(write, tmp_path, form, name):
    path = write(name, json.dumps(HOTPOTQA) if "array" in name else jsonl(HOTPOTQA))
    assert texts(read_documents(form, path)) == {
        "Duo": ["They are two. Hall sings.", "Other text."],
        "Alien": ["A film."],
    }
    assert questions(form, path, tmp_path) == [
        Question(
            qid="q1",
            text="Who sang?",
            type="bridge",
            answers=["Hall"],
            support=[Support(doc_id="Duo", quote="Hall sings.")],
        )
    ]
    assert [question.qid for question in questions(form, path, tmp_path, "dev")] == ["q2"]


def test_entries_with_whole_paragraphs_are_read_too(write, tmp_path):
    entry = {
        "id": "q",
        "question": "Who?",
        "answers": ["a", "b"],
        "paragraphs": [
            {"title": "T", "text": "One. Two.", "is_supporting": True},
            {"title": "U", "text": "x", "is_supporting": False},
        ],
    }
    path = write("lines.jsonl", jsonl([entry]))
    assert texts(read_documents("hotpotqa", path)) == {"T": ["One. Two."], "U": ["x"]}
    (question,) = questions("hotpotqa", path, tmp_path)
    assert (question.answers, question.support) == (["a", "b"], [Support(doc_id="T", quote="One. Two.")])


def test_documents_may_come_from_another_file_than_the_questions(write, tmp_path):
    paths = [write("a.json", json.dumps(HOTPOTQA[:1])), write("b.json", json.dumps(HOTPOTQA[1:]))]
    write_jsonl(tmp_path / "documents.jsonl", read_documents("hotpotqa", paths))
    assert len(read_questions("hotpotqa", paths[0], tmp_path / "documents.jsonl", True, "test", None, 0)) == 1
    write_jsonl(tmp_path / "documents.jsonl", read_documents("hotpotqa", paths[1]))
    broken = write(
        "c.json", json.dumps([{**HOTPOTQA[0], "supporting_facts": [["Duo", 0]], "context": [["Du", ["x"]]]}])
    )
    assert read_questions("hotpotqa", broken, tmp_path / "documents.jsonl", True, "test", None, 0)[0].support == []
    with pytest.raises(InputError, match=r"c\.json: \[0\]\.support\[0\]\.doc_id: names 'Gone', which is not among"):
        entry = {**HOTPOTQA[0], "supporting_facts": [["Gone", 0]], "context": [["Gone", ["x"]]]}
        path = write("c.json", json.dumps([entry]))
        read_questions("hotpotqa", path, tmp_path / "documents.jsonl", True, "test", None, 0)


@pytest.mark.parametrize(
    "name, text, message",
    [
        ("a.json", json.dumps(HOTPOTQA)[:-20], r"a\.json: \[1\]: no JSON after item 1"),
        ("a.json", json.dumps([{"question": 3}]), r"a\.json: \[0\]\.question: Expected `str`, got `int`"),
        ("a.jsonl", jsonl(HOTPOTQA) + "{", r"a\.jsonl:3: not a line of JSON"),
        ("a.jsonl", jsonl([{"question": "x"}]), r"a\.jsonl:1: context: must hold paragraphs \(got none\)"),
        ("a.jsonl", jsonl([{**HOTPOTQA[0], "context": [["T", "x"]]}]), r"a\.jsonl:1: context\[0\]\[1\]: Expected"),
        ("a.jsonl", jsonl([{**HOTPOTQA[0], "context": [[" ", ["x"]]]}]), r"context: a title must not be blank"),
    ],
)
def test_what_is_not_as_released_is_refused_with_its_place(write, name, text, message):
    with pytest.raises(InputError, match=message):
        list(read_documents("hotpotqa", write(name, text)))


def test_questions_without_id_or_answer_or_used_twice_are_refused(write, tmp_path):
    def refused(message, *entries):
        with pytest.raises(InputError, match=message):
            questions("hotpotqa", write("q.jsonl", jsonl(entries)), tmp_path)

    refused(r"q\.jsonl:1: _id: missing", {key: value for key, value in HOTPOTQA[0].items() if key != "_id"})
    refused(r"q\.jsonl:1: answers: must hold an answer", {**HOTPOTQA[0], "answer": None})
    refused(r"q\.jsonl:2: qid: 'q1' is used twice, first on line 1", HOTPOTQA[0], HOTPOTQA[0])


def test_musique_paragraphs_are_sections_of_their_title_and_unanswerable_questions_counted(write, tmp_path, caplog):
    path = write("m.jsonl", jsonl(MUSIQUE))
    (document,) = read_documents("musique", path)
    assert document.sections == [Section(blocks=[TextBlock(text="One.")]), Section(blocks=[TextBlock(text="Two.")])]
    (question,) = questions("musique", path, tmp_path)
    assert (question.type, question.answers) == ("2hop", ["A", "B"])
    assert question.support == [Support(doc_id="T", quote="One.")]
    assert "questions that are not answerable: 1 left out" in caplog.text


TABLE = {
    "url": "x", "title": "T", "uid": "T_0", "intro": "", "section_title": "S", "section_text": "",
    "header": [["A", []]], "data": [[["x ,", ["/wiki/X"]]]],
}  # fmt: skip


@pytest.mark.parametrize(
    "tables, articles",
    [
        (json.dumps({"T_0": TABLE}), json.dumps({"/wiki/X_y": "An x ."})),
        (jsonl([{"table_id": "T_0", **TABLE}]), jsonl([{"id": "/wiki/X_y", "title": "X y", "text": "An x ."}])),
    ],
)
def test_ottqa_tables_and_passages_come_by_id_or_in_lines(write, tables, articles):
    paths = [write("tables.json", tables), write("passages.json", articles)]
    table, article = read_documents("ottqa", paths)
    assert (table.doc_id, table.sections[0].blocks[0].rows) == ("T_0", [["x,"]])
    assert (article.doc_id, article.title, article.sections[0].blocks[0].text) == ("X_y", "X y", "An x.")
    with pytest.raises(InputError, match=r"OTT-QA needs two paths, tables and passages \(got 1\)"):
        list(read_documents("ottqa", paths[0]))
    with pytest.raises(InputError, match=r"no JSON after item"):
        list(read_documents("ottqa", [write("cut.json", json.dumps({"T_0": TABLE})[:-9]), paths[1]]))


def test_r2c2_passages_are_pooled_by_docid(write):
    lines = "0001;1;Alien_(film);One; two.\n0001;2;Duo;x\n0002;1;Alien_(film);One; two.\n0002;2;Alien_(film);Three.\n"
    assert texts(read_documents("r2c2", write("p.txt", lines))) == {
        "Alien_(film)": ["One; two.", "Three."],
        "Duo": ["x"],
    }
    named = "qID\tdocID\ttext\n0001\tAlien film\tOne; two.\n"
    (document,) = read_documents("r2c2", write("p.tsv", named))
    assert (document.doc_id, document.title) == ("Alien%20film", "Alien film")
    named = "qID;docID;text\n0001;Alien_(film);One; two.\n"
    assert texts(read_documents("r2c2", write("q.txt", named))) == {"Alien_(film)": ["One; two."]}


@pytest.mark.parametrize(
    "data, message",
    [
        (b"0001;1;A;x\n0001;2;B\n", r"p\.txt:2: must have 4 fields, 'qID;rank;docID;text' \(got 3\)"),
        (b"0001;1;A;x\n0001;2; ;x\n", r"p\.txt:2: docID: must not be blank"),
        (b"0001;1;A;x\n0001;2;A;caf\xe9\n", r"p\.txt:2: not valid UTF-8 at byte 12"),
        (b"docID;text;text\n", r"p\.txt:1: a field name must not be repeated"),
    ],
)
def test_wrong_r2c2_passages_are_refused(tmp_path, data, message):
    (tmp_path / "p.txt").write_bytes(data)
    with pytest.raises(InputError, match=message):
        list(read_documents("r2c2", str(tmp_path / "p.txt")))


@pytest.mark.parametrize("around", ["{}", "<?xml version='1.0' encoding='UTF-8'?>\n<topics>{}</topics>"])
def test_r2c2_topics_are_questions_without_answers(write, around):
    topics = "<question><qID>0001</qID><q>Who &amp; what?</q></question>\n"
    topics += "<question><qID>2</qID><q>x</q><type>set</type></question>"
    documents = write("documents.jsonl", jsonl([{"doc_id": "a"}]))
    found = read_questions("r2c2", write("topics.xml", around.format(topics)), documents, False, "test", None, 0)
    assert found == [
        Question(qid="0001", text="Who & what?", answers=[]),
        Question(qid="2", text="x", type="set", answers=[]),
    ]


@pytest.mark.parametrize(
    "text, message",
    [
        ("<question><qID>1</qID></question>", r"topics\.xml:1: q: missing or blank"),
        ("<question><qID>1</qID><q>a & b</q></question>", r"topics\.xml:1: no well-formed XML"),
        ("\n<question><qID>1</qID><q>a</q></question>" * 2, r"qid: '1' is used twice, first on line 2"),
        ("", "holds no question"),
    ],
)
def test_wrong_r2c2_topics_are_refused(write, text, message):
    documents = write("documents.jsonl", jsonl([{"doc_id": "a"}]))
    with pytest.raises(InputError, match=message):
        read_questions("r2c2", write("topics.xml", text), documents, False, "test", None, 0)
