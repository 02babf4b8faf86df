"""Taking the support of some questions out of a collection: these lose all of it, and the others nothing."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrag.collections.reading import read_documents, read_questions, removal
from calibrag.collections.unsupported import NOTHING, choose
from calibrag.corpus.chunking import chunk
from calibrag.corpus.support import qrels
from calibrag.errors import InputError
from calibrag.records import Document, Question, Section, Support, TextBlock, read_jsonl, write_jsonl

TOY = Path(__file__).parents[2] / "toy" / "film"
DRAW = {
    "share": 0.25,
    "seed": 5,
    "format": "jsonl",
    "answered": True,
    "split": "test",
    "sample": {"size": None, "seed": 1},
}


def question(qid, *documents, **more):
    support = [Support(doc_id=name) for name in documents]
    return Question(qid=qid, text=f"Who is {qid}?", answers=["a"], support=support, **more)


def document(doc_id):
    return Document(doc_id=doc_id, title=doc_id, sections=[Section(blocks=[TextBlock(text=f"About {doc_id}.")])])


@pytest.fixture
def collection(tmp_path):
    """Return a function of documents, questions and settings: what is left of both, and what was taken out."""

    def collection(documents, questions, **changes):
        paths = [str(tmp_path / name) for name in ("documents.jsonl", "questions.jsonl")]
        write_jsonl(paths[0], map(document, documents))
        write_jsonl(paths[1], questions)
        draw = DRAW | changes
        removed = removal(paths[1], draw)
        kept = tmp_path / "kept.jsonl"
        write_jsonl(kept, read_documents("jsonl", paths[0], removed.documents))
        limit, seed = draw["sample"]["size"], draw["sample"]["seed"]
        marked = read_questions("jsonl", paths[1], kept, True, draw["split"], limit, seed, removed)
        return [each.doc_id for each in read_jsonl(kept, Document)], marked, removed

    return collection


def test_nothing_is_taken_out_where_nothing_is_asked_for():
    assert removal("questions.jsonl", None) == NOTHING
    asked = question("q", "A")
    assert NOTHING.mark(asked) is asked


def test_questions_lose_all_their_support_and_keep_their_answers(collection):
    questions = [question(f"q{n}", f"A{n}", f"B{n}") for n in range(8)]
    names = [f"{letter}{n}" for n in range(8) for letter in "AB"]
    documents, marked, removed = collection([*names, "other"], questions)
    lost = [each for each in marked if not each.supported]
    assert len(lost) == 2 == removed.wanted
    assert {each.qid for each in lost} == removed.questions
    assert all(each.support == [] and each.answers == ["a"] for each in lost)
    assert removed.documents == {f"{letter}{each.qid[1:]}" for each in lost for letter in "AB"}
    assert documents == [name for name in [*names, "other"] if name not in removed.documents]
    assert [each for each in marked if each.supported] == [q for q in questions if q.qid not in removed.questions]


def test_a_document_that_a_question_needs_that_stays_is_never_taken_out(collection):
    # q0 to q5 hang together in a chain, so that the share of 2 has room for q6 and q7 alone
    chain = [question(f"q{n}", f"D{n}", f"D{n + 1}") for n in range(6)]
    for seed in range(20):
        _, _, removed = collection(
            [f"D{n}" for n in range(9)], [*chain, question("q6", "D7"), question("q7", "D8")], seed=seed
        )
        assert removed.questions == {"q6", "q7"} and removed.documents == {"D7", "D8"}


def test_questions_that_are_not_evaluated_are_no_obstacle(collection):
    questions = [*(question(f"q{n}", f"D{n}") for n in range(4)), question("dev", "D0", "D1", "D2", "D3", split="dev")]
    documents, marked, removed = collection([f"D{n}" for n in range(4)], questions)
    assert len(marked) == 4 and len(removed.questions) == 1 and len(documents) == 3


def test_the_share_is_one_of_the_sample(collection):
    questions = [question(f"q{n}", f"D{n}") for n in range(40)]
    _, marked, removed = collection([f"D{n}" for n in range(40)], questions, sample={"size": 8, "seed": 1})
    assert len(marked) == 8 and len(removed.questions) == 2
    assert removed.questions <= {each.qid for each in marked}


def test_fewer_are_chosen_where_no_further_group_fits():
    questions = [
        question("q0", "A"),
        question("q1", "B"),
        question("q2", "B"),
        question("q3", "B"),
        question("q4", "B"),
    ]
    removed = choose(questions, 0.5, 5)
    assert removed.questions == {"q0"} and removed.wanted == 3
    assert str(removed) == "1 questions lose their support (3 wanted), 1 documents left out"
    assert str(NOTHING) == "no document left out"


def test_a_share_for_which_there_is_no_question_is_refused(collection):
    questions = [question(f"q{n}", "A") for n in range(4)]
    with pytest.raises(InputError, match=r"no group of questions .* has 1 questions or fewer, the share of 4 .*raise"):
        collection(["A"], questions)


def test_support_that_never_was_among_the_documents_is_refused(collection):
    with pytest.raises(InputError, match=r"lacks D\d, which questions name as their support"):
        collection(["other"], [question(f"q{n}", f"D{n}") for n in range(4)])


def test_questions_without_support_are_never_chosen_and_count_in_the_share():
    questions = [question("q0", "A"), question("q1"), question("q2", "B", supported=False), question("q3", "C")]
    for seed in range(20):
        removed = choose(questions, 0.25, seed)
        assert removed.wanted == 1 and removed.questions < {"q0", "q3"}


QUESTIONS = st.lists(st.lists(st.sampled_from("ABCDEFGHIJKL"), max_size=3), min_size=2, max_size=14)


@given(QUESTIONS, st.floats(0.05, 0.95), st.integers(0, 9), st.randoms())
def test_a_choice_is_closed_bounded_and_independent_of_the_order(supports, share, seed, random):
    questions = [question(f"q{n}", *names) for n, names in enumerate(supports)]
    try:
        removed = choose(questions, share, seed)
    except ValueError:
        return
    assert 0 < len(removed.questions) <= removed.wanted <= len(questions)
    assert abs(removed.wanted - share * len(questions)) <= 0.5
    for each in questions:
        needed = {fact.doc_id for fact in each.support}
        if each.qid in removed.questions:
            assert needed and needed <= removed.documents
        else:
            assert not needed & removed.documents
    shuffled = random.sample(questions, len(questions))
    assert choose(shuffled, share, seed) == removed


@given(st.integers(0, 99))
def test_seeds_choose_differently(seed):
    questions = [question(f"q{n}", f"D{n}") for n in range(30)]
    others = {choose(questions, 0.5, seed + step).questions for step in range(4)}
    assert len(others) > 1


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    """Return passages, questions and judgements of the toy collection, whole and with support taken out."""
    folder = tmp_path_factory.mktemp("toy")
    documents, questions = (str(TOY / f"{kind}.jsonl.xz") for kind in ("documents", "questions"))

    def corpus(name, unsupported):
        removed = removal(questions, unsupported)
        write_jsonl(folder / name, read_documents("jsonl", documents, removed.documents))
        asked = read_questions("jsonl", questions, folder / name, True, "test", None, 1, removed)
        passages = [p for each in read_jsonl(folder / name, Document) for p in chunk(each, 200, 300)]
        return passages, asked, qrels(asked, passages)[0], removed

    return corpus("whole.jsonl", None), corpus("less.jsonl", DRAW), corpus("again.jsonl", DRAW)


def test_no_passage_of_what_was_taken_out_is_left_in_the_corpus(toy):
    (whole, _, _, _), (passages, _, _, removed), _ = toy
    assert len(removed.questions) == 3 and removed.documents
    assert removed.documents <= {passage.doc_id for passage in whole}
    assert [passage for passage in whole if passage.doc_id not in removed.documents] == passages


def test_unsupported_questions_have_no_judgement_and_the_others_lose_none(toy):
    (_, _, judged, _), (_, asked, left, removed), _ = toy
    assert {each.qid for each in asked if not each.supported} == removed.questions
    assert not removed.questions & {qid for qid, _, _ in left}
    assert left == [line for line in judged if line[0] not in removed.questions]
    assert len(left) < len(judged)


def test_the_same_seed_makes_the_same_choice(toy):
    assert toy[1] == toy[2]
