"""Signals of a question's record, by hand."""

import random

import msgspec
import pytest
from cases import a_pass, case, entry, recording, submission
from gold_labels import gold_labels
from hypothesis import given
from hypothesis import strategies as st
from sample_traces import FIRST, SECOND

from calibrag.confidence.extraction import COLUMNS, extract_signals, read_signals
from calibrag.confidence.signals import SIGNALS, Case, Signal, agreement, effort, evidence, signals_of
from calibrag.errors import CalibragError
from calibrag.records import Question
from calibrag.trace import ASPECTS, ModelEvent, SearchEvent, Usage


def search(query, turn=1):
    return SearchEvent(turn=turn, query=query, hits=[])


def said(reasoning=None, text=None, tokens=1, **more):
    return ModelEvent(turn=1, model="m", purpose="next call", reasoning=reasoning, text=text, tokens=tokens, **more)


# the sample: pass 1 turned "Mann" back and answered "Michael Mann", pass 2 fell back on that
SAMPLE = Case("Who directed Heat?", entry("Michael Mann", 1), [FIRST, SECOND])

BY_HAND = {
    "searches": 2,
    "distinct_queries": 2,
    "near_duplicate_queries": 0,
    "distinct_queries_of_all_passes": 2,
    "tool_calls": 9,
    "rejected_calls": 1,
    "turns": 9,
    "reads": 1,
    "longest_reasoning": len("Heat is a film.") + len("I search."),
    "total_reasoning": len("Heat is a film.") + len("I search."),
    "longest_reasoning_of_first_pass": len("Heat is a film.") + len("I search."),
    "tokens": 42,
    "tokens_of_all_passes": 42 + SECOND.usage.tokens,
    "nuggets_verified": 1,
    "nuggets_rejected": 0,
    "nuggets_retracted": 1,
    "entailment_min": 0.9,
    "entailment_mean": 0.9,
    "entailment_max": 0.9,
    "supporting_passages": 1,
    "supporting_passages_of_all_passes": 1,
    "answer_overlap": None,  # the sample's gate names no overlap
    "turned_back": 1,
    "turned_back_of_all_passes": 1,
    "filed_turned_back": 0,
    "fallback": 0,
    "passes_run": 2,
    "agreeing_passes": 1,
    "agreeing_share": 0.5,
    "answer_entropy": 0,
    "refusals": 0,
    "fallbacks": 1,
    "filed_confidence": 0.5,
    "summed_confidence": 0.5,
    "own_confidence": None,  # the reader scored "Mann" alone
    "judged_confidence": None,
    "answer_words": 2,
    "question_words": 3,
}


@pytest.mark.parametrize("name", SIGNALS)
def test_each_signal_of_the_sample_is_what_a_reading_of_it_gives(name):
    wanted = BY_HAND[name]
    assert SIGNALS[name].of(SAMPLE) == (wanted if wanted is None else pytest.approx(wanted))


@pytest.mark.parametrize("name", SIGNALS)
def test_a_signal_is_missing_where_an_aspect_that_it_reads_was_not_recorded(name):
    signal = SIGNALS[name]
    for aspect in signal.reads:
        left = [each for each in ASPECTS if each != aspect]
        passes = [recording(trace, *left) for trace in SAMPLE.traces]
        assert signal.of(Case(SAMPLE.question, SAMPLE.entry, passes)) is None
    passes = [recording(trace, *signal.reads) for trace in SAMPLE.traces]
    assert signal.of(Case(SAMPLE.question, SAMPLE.entry, passes)) == signal.of(SAMPLE)


def test_every_signal_says_what_it_measures_in_one_sentence_or_two():
    for name, signal in SIGNALS.items():
        assert signal.name == name
        assert signal.measures.endswith(".") and signal.unit, name


@pytest.mark.parametrize("module", [agreement, effort, evidence], ids=lambda module: module.__name__)
def test_every_signal_of_a_module_is_registered(module):
    declared = [each for each in vars(module).values() if isinstance(each, Signal)]
    assert {each.name for each in declared} == {each.name for each in module.SIGNALS}


def test_queries_count_once_however_they_are_spelled_and_near_ones_are_told():
    trace = a_pass(
        1,
        "Rome",
        events=[
            search("Heat director"),
            search("heat  DIRECTOR!"),
            search("a b c d e"),
            search("a b c d"),
            search("x"),
        ],
    )
    signals = {name: SIGNALS[name].of(case(trace)) for name in ("searches", "distinct_queries")}
    assert signals == {"searches": 5, "distinct_queries": 4}
    # the second equals the first, the fourth has 4 of 5 words with the third
    assert SIGNALS["near_duplicate_queries"].of(case(trace)) == 2


def test_queries_of_two_passes_that_are_the_same_count_once_over_all():
    passes = [a_pass(n, "Rome", events=[search("one"), search(f"only {n}")]) for n in (1, 2)]
    assert SIGNALS["distinct_queries"].of(case(*passes)) == 2
    assert SIGNALS["distinct_queries_of_all_passes"].of(case(*passes)) == 3


def test_the_longest_turn_is_of_what_was_thought_and_said():
    trace = a_pass(1, "Rome", events=[said("abc", "de"), said("abcd"), said()])
    assert SIGNALS["longest_reasoning"].of(case(trace)) == 5
    assert SIGNALS["total_reasoning"].of(case(trace)) == 9
    later = a_pass(2, "Rome", events=[said("a" * 50)])
    assert SIGNALS["longest_reasoning"].of(case(trace, later, pass_number=2)) == 50
    assert SIGNALS["longest_reasoning_of_first_pass"].of(case(trace, later, pass_number=2)) == 5


def test_a_model_that_says_nothing_has_no_reasoning_rather_than_none_of_it():
    trace = a_pass(1, "Rome", events=[said(candidates=["Rome"], probabilities=[1.0])])
    assert SIGNALS["longest_reasoning"].of(case(trace)) is None
    assert SIGNALS["total_reasoning"].of(case(trace)) is None


def test_tokens_that_a_server_does_not_tell_are_missing():
    trace = a_pass(1, "Rome", events=[said("a", tokens=None), said("a", tokens=7)], usage=Usage(tokens=7))
    assert SIGNALS["tokens"].of(case(trace)) is None
    assert SIGNALS["tokens_of_all_passes"].of(case(a_pass(1, "Rome"), trace)) is None


def test_entailments_without_a_nugget_are_missing_while_the_count_is_zero():
    values = [SIGNALS[f"entailment_{each}"].of(case(a_pass(1, "Rome"))) for each in ("min", "mean", "max")]
    assert values == [None, None, None]
    assert SIGNALS["nuggets_verified"].of(case(a_pass(1, "Rome"))) == 0


def test_overlap_is_that_of_the_submission_that_was_filed():
    events = list(FIRST.events)
    numbers = {"n1 entailment": 0.9, "n1 overlap": 0.5, "n2 overlap": 1.0, "n1 evidence": 0.7}
    # the last event is the ruling on "Michael Mann"
    events[-1] = msgspec.structs.replace(events[-1], numbers=numbers)
    trace = msgspec.structs.replace(FIRST, events=events)
    overlap = SIGNALS["answer_overlap"]
    assert overlap.of(Case("?", entry("Michael Mann"), [trace])) == 0.75
    assert overlap.of(Case("?", entry("Mann"), [trace])) is None


def test_an_answer_that_was_turned_back_says_so_and_keeps_its_own_confidence():
    trace = a_pass(1, submission("Oslo", 0.1, accepted=False), submission("Rome", 0.6, turn=2))
    assert SIGNALS["filed_turned_back"].of(case(trace, answer="Oslo")) == 1
    assert SIGNALS["filed_confidence"].of(case(trace, answer="Oslo")) == 0.1
    assert SIGNALS["filed_turned_back"].of(case(trace)) == 0
    assert SIGNALS["filed_confidence"].of(case(trace)) == 0.6


def test_agreement_counts_passes_not_submissions_and_no_fallback():
    passes = [
        a_pass(1, submission("Rome", accepted=False), submission("the Rome", 0.4, turn=2)),
        a_pass(2, "Oslo"),
        a_pass(3, submission("Rome", origin="fallback")),
        a_pass(4, submission("ROME", 0.3)),
    ]
    signals = signals_of(passes)
    values = {name: signals[name].of(case(*passes)) for name in ("agreeing_passes", "agreeing_share", "fallbacks")}
    assert values == {"agreeing_passes": 2, "agreeing_share": 0.5, "fallbacks": 1}
    assert [signals[f"agrees_with_pass_{n}"].of(case(*passes)) for n in (1, 2, 3, 4)] == [1, 0, 0, 1]
    assert signals["summed_confidence"].of(case(*passes)) == pytest.approx(0.7)
    # three of four say Rome: -(.75 log2 .75 + .25 log2 .25)
    assert signals["answer_entropy"].of(case(*passes)) == pytest.approx(0.8112781)


def test_passes_that_were_skipped_or_failed_are_no_passes_and_refusals_are_counted():
    passes = [a_pass(1, "Rome"), a_pass(2), a_pass(3, status="error"), a_pass(4, status="skipped")]
    signals = signals_of(passes)
    assert signals["passes_run"].of(case(*passes)) == 2
    assert signals["refusals"].of(case(*passes)) == 1
    assert [signals[f"agrees_with_pass_{n}"].of(case(*passes)) for n in (1, 2, 3, 4)] == [1, 0, None, None]


def test_a_share_of_candidates_is_that_of_the_filed_answer_in_the_last_scoring():
    events = [
        said(candidates=["Rome"], probabilities=[0.9]),
        said(candidates=["Oslo", "Rome", "rome"], probabilities=[0.5, 0.25, 0.125]),
    ]
    trace = a_pass(1, "Rome", events=events)
    assert SIGNALS["own_confidence"].of(case(trace)) == 0.375
    assert SIGNALS["own_confidence"].of(case(trace, answer="Bonn")) is None


def test_the_judge_counts_only_for_the_answer_that_is_filed():
    judged = SIGNALS["judged_confidence"]
    assert judged.of(case(a_pass(1, "Rome"), judged=entry("rome", confidence=0.7))) == 0.7
    assert judged.of(case(a_pass(1, "Rome"), judged=entry("Oslo", confidence=0.7))) is None
    assert judged.of(case(a_pass(1, "Rome"), judged=entry(None, confidence=0.0))) is None


def test_telemetry_becomes_a_signal_of_the_last_pass_that_has_it():
    passes = [a_pass(1, "Rome", telemetry={"perplexity": 1.5}), a_pass(2, "Rome", telemetry={"entropy": 0.2})]
    signals = signals_of(passes)
    assert signals["telemetry_perplexity"].of(case(*passes)) == 1.5
    assert signals["telemetry_entropy"].of(case(*passes)) == 0.2
    assert signals["telemetry_entropy"].of(case(passes[0])) is None


def test_an_answer_that_is_of_no_pass_has_no_signal_of_a_filing_pass():
    at_filing = [signal for signal in SIGNALS.values() if signal.where == "filing pass"]
    assert {signal.of(case(a_pass(1, "Rome"), pass_number=None)) for signal in at_filing} == {None}


# --- the table -----------------------------------------------------------------------------------


QUESTIONS = [
    Question(qid="b", text="Which city?", answers=["Rome"]),
    Question(qid="a", text="which city", answers=["Oslo"]),
    Question(qid="c", text="Who?", answers=["Ann"], supported=False),
    Question(qid="d", text="When?", answers=["1999"]),
]


def traced(question, answer):
    return a_pass(1, answer, qid=question.qid)


def table(questions=QUESTIONS, answers=("Rome", "Rome", "Ann", "NA")):
    asked = {question.qid: answer for question, answer in zip(QUESTIONS, answers, strict=True)}
    entries = [entry(asked[question.qid], qid=question.qid) for question in questions]
    traces = {question.qid: [traced(question, asked[question.qid])] for question in questions}
    return extract_signals(entries, questions, traces, gold_labels(questions, traces, entries).right)


def test_a_row_an_answer_and_questions_of_the_same_words_are_one_group():
    frame = table()
    assert list(frame.columns[: len(COLUMNS)]) == COLUMNS
    assert list(frame["qid"]) == ["b", "a", "c", "d"]
    # an answer to a question without support is wrong whatever it says
    assert list(frame["right"]) == [True, False, False, False]
    assert frame["group"][0] == frame["group"][1] != frame["group"][2]


def test_refusals_and_missing_questions_have_no_row():
    traces = {"b": [a_pass(1, "Rome", qid="b")], "a": [a_pass(1, qid="a")]}
    entries = [entry("Rome", qid="b"), entry(None, None, 0.0, qid="a")]
    frame = extract_signals(entries, QUESTIONS, traces, gold_labels(QUESTIONS, traces, entries).right)
    assert list(frame["qid"]) == ["b"]


def test_an_answer_without_traces_stops_the_table():
    with pytest.raises(CalibragError, match="answers d, which has no traces"):
        extract_signals([entry("1999", qid="d")], QUESTIONS, {}, gold_labels(QUESTIONS).right)
    with pytest.raises(CalibragError, match="answers z, which was not asked"):
        extract_signals([entry("1999", qid="z")], QUESTIONS, {}, gold_labels(QUESTIONS).right)


def test_a_run_without_answers_has_a_table_without_rows(tmp_path):
    frame = extract_signals([], QUESTIONS, {}, gold_labels(QUESTIONS).right)
    frame.to_csv(tmp_path / "signals.csv", index=False)
    assert len(read_signals(tmp_path / "signals.csv")) == 0


def test_the_file_gives_back_the_table_and_no_answer_becomes_a_hole(tmp_path):
    frame = table()
    frame.to_csv(tmp_path / "signals.csv", index=False)
    read = read_signals(tmp_path / "signals.csv")
    assert list(read["answer"]) == ["Rome", "Rome", "Ann", "NA"]
    assert read.equals(frame)


@given(st.permutations(QUESTIONS))
def test_no_signal_depends_on_the_order_of_the_questions(questions):
    frame = table(questions).set_index("qid")
    assert frame.loc[["b", "a", "c", "d"]].equals(table().set_index("qid"))


@given(st.randoms(use_true_random=False))
def test_no_signal_depends_on_the_gold_answers(rng: random.Random):
    golds = [question.answers for question in QUESTIONS]
    rng.shuffle(golds)
    permuted = [msgspec.structs.replace(q, answers=gold) for q, gold in zip(QUESTIONS, golds, strict=True)]
    traces = {question.qid: [traced(question, "Rome")] for question in QUESTIONS}
    entries = [entry("Rome", qid=question.qid) for question in QUESTIONS]
    one, other = (
        extract_signals(entries, questions, traces, gold_labels(questions, traces, entries).right)
        for questions in (QUESTIONS, permuted)
    )
    assert one.drop(columns="right").equals(other.drop(columns="right"))
