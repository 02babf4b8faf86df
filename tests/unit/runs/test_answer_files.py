"""Files of answer runs, the faults charged to runs, and answers that count as the same."""

import pytest
from rule_settings import CONFIG, rule_settings
from run_traces import failed, submission, trace, turned_back

from calibrag.configuration import load_yaml
from calibrag.errors import InputError
from calibrag.normalisation import answer_key
from calibrag.records import Question, write_jsonl
from calibrag.runs.answer_matching import match_answers
from calibrag.runs.answer_runs import ANSWER_RUNS, BASELINES, faults, file_answers, read_answer_runs
from calibrag.runs.same_answers import SameAnswers, read_same_answers
from calibrag.verification.entailment import Entailment

TRACES = {
    "q": [trace(1, [submission("Rome", 0.4)]), trace(2, [submission("Paris", 0.5)])],
    "r": [trace(1, [], qid="r")],
}


def test_runs_are_filed_in_the_order_of_the_configuration_and_read_back(tmp_path):
    settings = rule_settings(answers=["four-pass", "AC-1", "always-0"])
    entries = file_answers(TRACES, {}, settings).entries
    write_jsonl(tmp_path / "answers.jsonl", entries)
    runs = read_answer_runs([tmp_path / "answers.jsonl"])
    assert list(runs) == settings.answers
    assert [entry for run in runs.values() for entry in run] == entries
    assert [entry.qid for entry in runs["AC-1"]] == ["q", "r"]


def test_a_run_with_a_question_twice_is_refused_with_file_and_line(tmp_path):
    entries = file_answers(TRACES, {}, rule_settings(answers=["AC-1"])).entries
    write_jsonl(tmp_path / "one.jsonl", entries)
    write_jsonl(tmp_path / "two.jsonl", entries[1:])
    with pytest.raises(InputError, match=r"two.jsonl:1: the run AC-1 has question r twice"):
        read_answer_runs([tmp_path / "one.jsonl", tmp_path / "two.jsonl"])


def test_faults_are_charged_to_the_runs_whose_answers_are_of_the_pass():
    traces = {"q": [trace(1, []), failed(2)], "r": [failed(1), trace(2, [])]}
    fault = "index is gone"
    assert faults(traces, "AC-1", "four-pass") == {"r": fault}
    assert faults(traces, "AC-2", "four-pass") == {"q": fault, "r": fault}
    assert faults(traces, "always-0", "AC-1") == {"r": fault}
    assert faults(traces, "fitted-logistic", "AC-1") == {"q": fault, "r": fault}


def test_the_schema_names_the_rules():
    schema = load_yaml(CONFIG.parent / "workflow" / "schemas" / "config.schema.yaml")
    runs = schema["properties"]["runs"]["properties"]
    assert runs["answers"]["items"]["enum"] == [*ANSWER_RUNS, *BASELINES]
    assert runs["baselines_of"]["enum"] == list(ANSWER_RUNS)


# --- answers that entail each other --------------------------------------------------------------

QUESTION = Question(qid="q", text="Where?", answers=["Rome"])


class Scripted:
    """A verifier by a table of (premise's answer, claim's answer); all others 0."""

    def __init__(self, scores):
        self.scores = scores

    def entail(self, pairs):
        answers = [tuple(side.removeprefix("Where? Answer: ") for side in pair) for pair in pairs]
        return [Entailment(self.scores.get(pair, 0.0)) for pair in answers]


def matched(scores, *texts, threshold=0.5):
    traces = {"q": [trace(n, [submission(text, 0.4)]) for n, text in enumerate(texts, start=1)]}
    return [group.keys for group in match_answers([QUESTION], traces, Scripted(scores), threshold)]


def test_answers_are_the_same_that_entail_each_other():
    both = {("Rome", "Roma"): 0.5, ("Roma", "Rome"): 0.6}
    assert matched(both, "Rome", "Paris", "Roma") == [["rome", "roma"]]
    assert matched({("Rome", "Roma"): 0.9}, "Rome", "Roma") == []
    assert matched(both, "Rome", "Roma", threshold=0.55) == []


def test_no_chain_of_small_steps_makes_two_answers_one():
    chain = {("A1", "A2"): 1, ("A2", "A1"): 1, ("A2", "A3"): 1, ("A3", "A2"): 1}
    assert matched(chain, "A1", "A2", "A3") == [["a1", "a2"]]


def test_a_group_is_named_by_its_earliest_answer_turned_back_ones_included():
    both = {("Rome", "Roma"): 1, ("Roma", "Rome"): 1}
    traces = {"q": [trace(1, [turned_back("Roma", 0.1), submission("Rome", 0.4)]), trace(2, [submission("Roma", 0.1)])]}
    assert match_answers([QUESTION], traces, Scripted(both), 0.5) == [SameAnswers(qid="q", keys=["roma", "rome"])]


def test_a_question_without_traces_has_no_groups():
    assert match_answers([QUESTION], {}, Scripted({}), 0.5) == []


def test_the_files_give_the_keys(tmp_path):
    file = tmp_path / "same_answers.jsonl"
    write_jsonl(file, [SameAnswers(qid="q", keys=["rome", "roma"])])
    same = read_same_answers([file])
    assert (same("q", "Roma!"), same("q", "Rome"), same("q", "Paris")) == ("rome", "rome", "paris")
    assert same("r", "Roma") == answer_key("Roma") == read_same_answers([])("q", "Roma")


def test_an_answer_in_two_groups_is_refused(tmp_path):
    file = tmp_path / "same_answers.jsonl"
    write_jsonl(file, [SameAnswers(qid="q", keys=["a", "b"]), SameAnswers(qid="q", keys=["c", "b"])])
    with pytest.raises(InputError, match="stands in two groups"):
        read_same_answers([file])
