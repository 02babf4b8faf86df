"""Labels: one an answer, whoever decides; disagreement is listed and nothing undecided passes for right."""

import csv

import pytest
from hypothesis import given
from hypothesis import strategies as st
from run_traces import submission, trace, turned_back

from calibrag.errors import CalibragError, InputError
from calibrag.evaluation import label_files
from calibrag.evaluation.labels import Conflict, Given, Label, Labels, given_answers, is_near, label_answers
from calibrag.records import Question, write_jsonl
from calibrag.trace import RunEntry

WHO = Question(qid="q", text="Who?", answers=["John Ford"])


def decide(answers, said=None, question=WHO, near=0.5):
    return label_answers([question], {question.qid: answers}, said or {}, near)


def only(decision):
    [label] = decision.labels
    return label.right, label.source


@pytest.mark.parametrize(
    ("answer", "label"),
    [
        ("john ford", (True, "match")),
        ("Howard Hawks", (False, "match")),
        ("Henry Ford", (False, "undecided")),  # F1 .5
        ("Ford", (False, "undecided")),  # it stands in the gold answer
        ("the director John Ford of Maine", (False, "undecided")),  # the gold answer stands in it
    ],
)
def test_a_match_decides_what_is_equal_or_far_and_leaves_what_is_near(answer, label):
    decision = decide([answer])
    assert only(decision) == label
    assert decision.undecided == ([(WHO, answer)] if label[1] == "undecided" else [])


def test_how_near_is_near_is_a_setting():
    assert is_near("Henry Ford", WHO, 0.5) and not is_near("Henry Ford", WHO, 0.6)
    # the words hold one another whatever the setting
    assert is_near("Ford", WHO, 1.0)
    assert not is_near("Ford, John", WHO, 1.1)  # all its words, in another order


def test_answers_that_say_the_same_get_one_label_and_one_form_that_matches_suffices():
    question = Question(qid="q", text="?", answers=["Spiderman"])
    # officially "Spider-Man" is "spiderman" and "spider man" is not; the keys of the two are equal
    decision = decide(["spider man", "Spider-Man"], question=question)
    assert only(decision) == (True, "match") and decision.labels[0].answer == "spider man"


@pytest.mark.parametrize(
    ("said", "label"),
    [
        ({"review": {("q", "henry ford"): True}}, (True, "review")),
        ({"judge": {("q", "henry ford"): True}}, (True, "judge")),
        ({"review": {("q", "henry ford"): False}, "judge": {("q", "henry ford"): True}}, (False, "review")),
        ({"log em": {("q", "henry ford"): True}}, (False, "undecided")),
        ({"review": {("other", "henry ford"): True}}, (False, "undecided")),
    ],
)
def test_a_person_counts_before_a_model_and_a_log_decides_nothing(said, label):
    assert only(decide(["Henry Ford"], said)) == label


def test_a_person_counts_before_a_match_and_a_match_before_a_model_and_each_disagreement_is_listed():
    said = {"review": {("q", "john ford"): False}, "judge": {("q", "john ford"): True, ("q", "howard hawks"): True}}
    said["log em"] = {("q", "john ford"): True, ("q", "howard hawks"): False}
    decision = decide(["John Ford", "Howard Hawks"], said)
    assert [(label.answer, label.right, label.source) for label in decision.labels] == [
        ("Howard Hawks", False, "match"),
        ("John Ford", False, "review"),
    ]
    assert decision.conflicts == [
        Conflict("q", "Howard Hawks", "match", False, "judge", True),
        Conflict("q", "John Ford", "review", False, "match", True),
        Conflict("q", "John Ford", "review", False, "judge", True),
        Conflict("q", "John Ford", "review", False, "log em", True),
    ]
    # source, decided, compared, differ, right of the undecided
    assert decision.counts() == [
        ("match", 1, 1, 1, 0), ("review", 1, 0, 0, 0), ("judge", 0, 2, 2, 0), ("log em", 0, 2, 1, 0),
    ]  # fmt: skip


def test_what_a_log_calls_right_of_the_undecided_is_counted_apart_from_what_it_disagrees_on():
    said = {"log inacc": {("q", "henry ford"): True, ("q", "ford"): False, ("q", "john ford"): True}}
    decision = decide(["Henry Ford", "Ford", "John Ford"], said)
    assert decision.counts() == [("undecided", 2, 0, 0, 0), ("match", 1, 0, 0, 0), ("log inacc", 0, 1, 0, 1)]
    assert decision.conflicts == []


@pytest.mark.parametrize("forms", [["co-operative", "co operative"], ["co operative", "co-operative"]])
def test_whether_an_answer_is_near_does_not_depend_on_which_of_its_forms_came_first(forms):
    # officially the first is the word "cooperative" and the second is two others
    question = Question(qid="q", text="?", answers=["cooperative banking group"])
    assert [is_near(form, question, 0.5) for form in sorted(forms)] == [False, True]
    assert only(decide(forms, question=question)) == (False, "undecided")


def test_every_answer_without_support_is_wrong_whatever_anybody_says():
    bare = Question(qid="q", text="Who?", answers=["John Ford"], supported=False)
    decision = decide(["John Ford"], {"review": {("q", "john ford"): True}}, bare)
    assert only(decision) == (False, "unsupported")
    assert (decision.conflicts, decision.undecided) == ([], [])


def test_all_answers_of_passes_and_runs_are_labelled_and_refusals_are_none():
    passes = [trace(1, [turned_back("Hawks", 0.2), submission("Ford", 0.5)]), trace(2, [submission(None, 0.0)])]
    filed = RunEntry(run="x", qid="q", answer="Wayne", confidence=1, nuggets=[], passage_run="PG-1", origin="pass-1")
    given = given_answers({"q": passes}, {"x": [filed], "y": []})
    assert set(given.answers["q"]) == {"Hawks", "Ford", "Wayne"}
    assert given.filed_by == {("q", "wayne"): ["x"]}
    assert given.by_pass == {("q", 1): "Ford"}


def test_an_answer_without_a_label_is_an_error_and_not_a_wrong_answer():
    labels = Labels([Label(qid="q", answer="The Ford", right=True, source="match")])
    assert labels.right("q", "ford")
    with pytest.raises(CalibragError, match="question q: the answer 'Hawks' has no label"):
        labels.of("q", "Hawks")


words_of = st.lists(st.sampled_from(["john", "ford", "henry", "wayne", "3"]), min_size=1, max_size=3).map(" ".join)


@given(st.lists(words_of, max_size=6), st.dictionaries(words_of.map(lambda text: ("q", text)), st.booleans()))
def test_each_answer_has_one_label_and_only_what_somebody_calls_right_is_right(answers, reviewed):
    decision = decide(answers, {"review": reviewed})
    labels = Labels(decision.labels)
    assert len(decision.labels) == sum(decided for _, decided, *_ in decision.counts())
    for answer in answers:
        label = labels.of("q", answer)
        if ("q", answer) in reviewed:
            assert (label.right, label.source) == (reviewed["q", answer], "review")
        else:
            assert label.right == (label.source == "match" and answer == "john ford")


# --- files ---------------------------------------------------------------------------------------


def test_what_waits_is_written_filled_in_and_read_back(tmp_path):
    question = Question(qid="q", text='Who, "then"?', answers=["John Ford", "Sean O'Feeney"])
    decision = decide(["Henry Ford", "Ford,\nthe man"], question=question)
    label_files.write_undecided(tmp_path / "undecided.csv", decision.undecided, {("q", "henry ford"): ["AC-1", "AC-2"]})
    with open(tmp_path / "undecided.csv", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [(row["answer"], row["gold"], row["filed"], row["right"]) for row in rows] == [
        ("Ford,\nthe man", "John Ford | Sean O'Feeney", "", ""),
        ("Henry Ford", "John Ford | Sean O'Feeney", "AC-1 AC-2", ""),
    ]
    assert label_files.read_review(tmp_path / "undecided.csv") == {}
    with open(tmp_path / "filled.csv", "w", newline="", encoding="utf-8-sig") as stream:
        out = csv.DictWriter(stream, label_files.REVIEW_COLUMNS)
        out.writeheader()
        out.writerows(row | {"right": said} for row, said in zip(rows, [" Yes", "no"], strict=True))
    assert label_files.read_review(tmp_path / "filled.csv") == {("q", "ford man"): True, ("q", "henry ford"): False}


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("qid;answer;right\n", 1, "must have the columns .*see qid, answer, right"),
        ("qid,answer,right,right\nq,Ford,yes,no\n", 1, "each once .*see right"),
        ("right,qid,answer\nyes,q\n", 2, "must have 3 cells"),
        ("qid,answer,right\nq,Ford,Coppola,yes\n", 2, "must have 3 cells"),
        ("qid,answer,right\nq, ,yes\n", 2, "answer: must be the answer that is judged"),
        # the open quote would swallow the second row
        ('qid,answer,right\nq,"Ford,yes\nq,Hawks,no\n', 1, "must be CSV"),
        ("", 1, "must have the columns"),
        ("qid,answer,right\nq,Ford,yes\nq,Hawks,perhaps\n", 3, "must be yes, no or empty"),
        ("qid,answer,right\nq,Ford,yes\nq,the Ford,no\n", 3, "must judge an answer once"),
    ],
)
def test_a_review_that_cannot_be_read_is_refused_by_line(tmp_path, text, line, problem):
    path = tmp_path / "review.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=f"review.csv:{line}.*{problem}"):
        label_files.read_review(path)


def test_a_review_in_another_encoding_is_refused(tmp_path):
    path = tmp_path / "review.csv"
    for encoding in ("cp1252", "utf-16"):
        path.write_text("qid,answer,right\nq,Andr\u00e9,yes\n", encoding=encoding)
        with pytest.raises(InputError, match="review.csv.*UTF-8"):
            label_files.read_review(path)


def test_the_log_tells_how_many_reviewed_answers_go_unused_and_ids_of_another_collection_are_refused():
    given = Given({"q": ["Ford"]}, {}, {})
    told = label_files.describe_reviewed([("q", "ford"), ("q", "hawks"), ("r", "ford")], [WHO], given)
    assert told == (
        "3 answers reviewed, 2 of them given by no pass or run of this system; 1 qids of them are of no question"
    )
    assert label_files.describe_reviewed([], [WHO], given).startswith("0 answers reviewed")
    with pytest.raises(CalibragError, match="qids such as '1'"):
        label_files.describe_reviewed([("1", "ford")], [WHO], given)


def test_opinions_come_from_reviews_a_judge_and_the_labels_of_a_log(tmp_path):
    (tmp_path / "review.csv").write_text("qid,answer,right\nq,Ford,yes\n")
    write_jsonl(tmp_path / "judged.jsonl", [Label(qid="q", answer="Hawks", right=False, source="judge")])
    rows = ["qid,pass,name,value", "q,1,em,1.0", "q,1,f1,0.4", "q,2,em,0.0", "q,3,em,1.0", "r,1,em,1.0"]
    (tmp_path / "labels.csv").write_text("\n".join(rows))
    given = Given({}, {}, {("q", 1): "Ford", ("q", 2): "Wayne", ("q", 3): "Wayne"})
    files = ([tmp_path / "review.csv"], [tmp_path / "judged.jsonl"], [tmp_path / "labels.csv"])
    assert label_files.read_opinions(*files, given) == {
        "review": {("q", "ford"): True},
        "judge": {("q", "hawks"): False},
        # f1 is a score; of an answer that two passes gave the first counts; r has no answer
        "log em": {("q", "ford"): True, ("q", "wayne"): False},
    }


def test_labels_are_read_back_and_counts_name_their_system(tmp_path):
    decision = decide(["John Ford", "Ford"])
    write_jsonl(tmp_path / "labels.jsonl", decision.labels)
    assert label_files.read_labels(tmp_path / "labels.jsonl").right("q", "john ford")
    label_files.write_counts(tmp_path / "counts.csv", decision, "film", "bitem")
    assert (tmp_path / "counts.csv").read_text().splitlines()[1:] == [
        '"film","bitem","undecided",2,1,0,0,0',
        '"film","bitem","match",2,1,0,0,0',
    ]
