"""Each answer rule on scripted passes: every branch, with numbers worked out by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from rule_settings import rule_settings
from run_traces import failed, nugget, skipped, spoke, submission, trace, turned_back

from calibrag.evaluation.answer_measures import parse_measure
from calibrag.normalisation import answer_key
from calibrag.runs.answer_runs import ANSWER_RUNS, BASELINES, file_answers
from calibrag.runs.single_pass import reasoning_turns
from calibrag.trace import ASPECTS, ModelEvent

HMR = parse_measure("HMR")
PASSAGES = {name: {"q": ["b", "c", "p"]} for name in ("PG-1", "PG-2")}


def filed(run, traces, **settings):
    """Return what a run files of traces, by question."""
    by_qid = {}
    for one in traces:
        by_qid.setdefault(one.qid, []).append(one)
    return {e.qid: e for e in file_answers(by_qid, PASSAGES, rule_settings(answers=[run], **settings)).entries}


def answer(run, *traces, **settings):
    entry = filed(run, traces, **settings)["q"]
    return entry.answer, entry.confidence, entry.origin


def said(run, *traces, **settings):
    return answer(run, *traces, **settings)[:2]


def passes(*answers):
    """Return passes with one answer each: ``Rome`` accepted, ``-Rome`` turned back, ``=Rome`` a fallback; None none."""
    made = []
    for number, text in enumerate(answers, start=1):
        if text is None:
            made.append(trace(number, []))
        elif text[0] == "-":
            made.append(trace(number, [turned_back(text[1:], 0.1, turn=number)]))
        else:
            origin = "fallback" if text[0] == "=" else "own"
            made.append(trace(number, [submission(text.lstrip("="), 0.4, turn=number, origin=origin)]))
    return made


REFUSED = (None, 0.0, "no answer")

# --- AC-1 ----------------------------------------------------------------------------------------


def test_ac_1_files_the_first_pass_as_it_is():
    assert answer("AC-1", trace(1, [submission("Rome", 0.4)]), trace(2, [submission("Paris", 0.9)])) == (
        "Rome",
        0.4,
        "pass-1 turn 1",
    )


def test_ac_1_takes_the_answer_accepted_not_the_one_turned_back_before():
    assert said("AC-1", trace(1, [turned_back("Bonn", 0.9), submission("Rome", 0.4, turn=2)])) == ("Rome", 0.4)


def test_ac_1_takes_the_last_attempt_of_a_refusing_pass():
    refusing = [turned_back("Rome", 0.1, 3), turned_back("Bonn", 0.05, 5), submission(None, 0.0, turn=6)]
    assert answer("AC-1", trace(1, refusing)) == ("Bonn", 0.05, "pass-1 turn 5 (turned back)")


def test_ac_1_refuses_with_confidence_0_where_nothing_was_tried():
    assert answer("AC-1", trace(1, []), trace(2, [submission("Paris", 0.9)])) == REFUSED


def test_ac_1_is_of_the_first_pass_alone_and_lacks_a_question_without_one():
    assert filed("AC-1", [trace(2, [submission("Paris", 0.9)])]) == {}


# --- AC-2 ----------------------------------------------------------------------------------------


def test_ac_2_takes_the_surest_submission_of_all_turned_back_ones_included():
    second = trace(2, [turned_back("Paris", 0.9, turn=7), submission(None, 0.0)])
    assert answer("AC-2", trace(1, [submission("Rome", 0.4)]), second) == ("Paris", 0.9, "pass-2 turn 7 (turned back)")


def test_ac_2_prefers_accepted_then_earlier_of_equals():
    assert said("AC-2", trace(1, [turned_back("Rome", 0.4)]), trace(2, [submission("Paris", 0.4)]))[0] == "Paris"
    assert said("AC-2", trace(1, [submission("Rome", 0.4)]), trace(2, [submission("Paris", 0.4)]))[0] == "Rome"


def test_ac_2_never_files_a_refusal_over_an_attempt():
    assert answer("AC-2", trace(1, [submission(None, 0.0)])) == REFUSED
    assert said("AC-2", trace(1, [submission(None, 0.8)]), trace(2, [turned_back("Rome", 0.1)])) == ("Rome", 0.1)


# --- AC-3 ----------------------------------------------------------------------------------------


def test_ac_3_files_the_answer_of_the_largest_sum():
    # Rome .3 + .3 = .6 against Paris .5
    traces = [
        trace(1, [submission("Paris", 0.5)]),
        trace(2, [submission("Rome", 0.3)]),
        trace(3, [submission("rome!", 0.3)]),
    ]
    assert answer("AC-3", *traces) == ("Rome", pytest.approx(0.6), "pass-2 turn 1")


def test_ac_3_is_capped_at_1():
    traces = [trace(n, [submission("Rome", 0.5)]) for n in (1, 2, 3)]
    assert said("AC-3", *traces) == ("Rome", 1.0)


def test_ac_3_compares_the_sums_before_it_caps_them():
    # Paris 1.1 comes first, Rome 1.2 is larger: both would be capped to 1
    traces = [
        trace(1, [submission("Paris", 0.6)]),
        trace(2, [submission("Paris", 0.5)]),
        trace(3, [submission("Rome", 0.6)]),
        trace(4, [submission("Rome", 0.6)]),
    ]
    assert said("AC-3", *traces) == ("Rome", 1.0)


def test_ac_3_counts_a_turned_back_answer_and_its_retry_twice_and_ac_3_per_pass_once():
    traces = [
        trace(1, [turned_back("Rome", 0.3), submission("Rome", 0.35, turn=2)]),
        trace(2, [submission("Paris", 0.5)]),
    ]
    assert answer("AC-3", *traces) == ("Rome", pytest.approx(0.65), "pass-1 turn 2")
    assert answer("AC-3-per-pass", *traces) == ("Paris", 0.5, "pass-2 turn 1")


def test_ac_3_per_pass_counts_the_surest_submission_of_each_pass():
    # Rome: .4 of pass 1, .2 of pass 2; Paris: .3 of pass 1, which counts in its own group too
    traces = [
        trace(1, [turned_back("Rome", 0.4), turned_back("Paris", 0.3), submission("Rome", 0.1, turn=3)]),
        trace(2, [submission("Rome", 0.2)]),
    ]
    assert answer("AC-3-per-pass", *traces) == ("Rome", pytest.approx(0.6), "pass-1 turn 1 (turned back)")


def test_ac_3_files_the_group_begun_earlier_of_equal_sums():
    for run in ("AC-3", "AC-3-per-pass"):
        assert said(run, trace(1, [submission("Rome", 0.4)]), trace(2, [submission("Paris", 0.4)]))[0] == "Rome"


# --- single-pass ---------------------------------------------------------------------------------


def thinking(qid, *lengths, number=1, text="Rome"):
    return trace(number, [submission(text, 0.4)] if text else [], qid=qid, events=spoke(*lengths))


def confidences(*traces, **settings):
    return {qid: entry.confidence for qid, entry in filed("single-pass", traces, **settings).items()}


def test_single_pass_is_sure_below_the_median_of_the_longest_turns():
    # longest turns 10, 30, 50: the median 30 is not below itself
    traces = [thinking("a", 10, 4), thinking("b", 30), thinking("c", 20, 50)]
    assert confidences(*traces) == {"a": 1.0, "b": 0.0, "c": 0.0}


def test_single_pass_takes_the_middle_of_an_even_number_of_questions():
    # 10, 20, 30, 90: median 25
    traces = [thinking(qid, length) for qid, length in zip("abcd", (10, 20, 30, 90), strict=True)]
    assert confidences(*traces) == {"a": 1.0, "b": 1.0, "c": 0.0, "d": 0.0}


def test_single_pass_may_take_the_median_over_all_passes_or_a_number():
    traces = [thinking("a", 10), thinking("b", 30), thinking("a", 40, number=2), thinking("b", 50, number=2)]
    traces.append(skipped(3, qid="a"))
    # over first passes 10, 30: 20; over all that ran 10, 30, 40, 50: 35
    assert confidences(*traces) == {"a": 1.0, "b": 0.0}
    assert confidences(*traces, single_pass={"median": "passes"}) == {"a": 1.0, "b": 1.0}
    assert confidences(*traces, single_pass={"median": 10}) == {"a": 0.0, "b": 0.0}
    assert confidences(*traces, single_pass={"median": 10.5}) == {"a": 1.0, "b": 0.0}
    # a pass whose reasoning a log left out is no short one
    traces.append(replace(thinking("b", number=3), recorded=["confidence"]))
    assert confidences(*traces, single_pass={"median": "passes"}) == {"a": 1.0, "b": 1.0}


def test_single_pass_has_the_answers_of_ac_1_and_is_never_sure_of_a_refusal():
    refusing = thinking("c", 1, text=None)
    entries = filed("single-pass", [thinking("a", 10), thinking("b", 30), refusing])
    assert [entries[qid].answer for qid in "abc"] == ["Rome", "Rome", None]
    assert entries["c"].confidence == 0.0


READER = ModelEvent(turn=1, model="reader", purpose="propose answers", candidates=["Rome"], probabilities=[1.0])


@pytest.mark.parametrize("events", [[], [READER], spoke(0, 0)])
def test_single_pass_files_nothing_where_no_model_wrote_a_word(events):
    traces = {"q": [trace(1, [submission("Rome", 0.4)], events=events)]}
    result = file_answers(traces, {}, rule_settings(answers=["single-pass"]))
    assert result.entries == []
    assert result.notes == [
        "single-pass: 0 entries, 0 at confidence 1; 1 questions left out: no reasoning in their traces"
    ]


def test_the_log_counts_the_answers_at_confidence_1():
    traces = {qid: [thinking(qid, length)] for qid, length in zip("abc", (10, 30, 50), strict=True)}
    assert file_answers(traces, {}, rule_settings(answers=["single-pass"])).notes == [
        "single-pass: 3 entries, 1 at confidence 1"
    ]


@pytest.mark.parametrize(
    ("text", "reasoning", "length"),
    [
        ("four", None, 4),
        (None, "four", 4),
        ("four", "and six", 11),
        ('{"reasoning": "four", "call": {"tool": "search", "query": "a long query"}}', None, 4),
        ('{"reasoning": 4}', None, 16),
        ('{"reasoning": "cut of', None, 21),
        ("", None, 0),
    ],
)
def test_reasoning_is_thought_and_text_without_the_call(text, reasoning, length):
    event = ModelEvent(turn=1, model="m", purpose="next call", text=text, reasoning=reasoning)
    assert reasoning_turns(trace(1, [], events=[event])) == [length]


def test_a_question_type_and_a_reader_are_no_reasoning():
    asked = spoke(400, purpose="question type")
    scored = ModelEvent(turn=1, model="reader", purpose="propose answers")
    assert reasoning_turns(trace(1, [], events=[*asked, scored, *spoke(3)])) == [3]


# --- four-pass -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answers", "wanted"),
    [
        (["Rome"], ("Rome", 0.0)),  # only one answers
        (["Rome", None, None], ("Rome", 0.0)),
        (["Rome", "=Rome", "=Rome"], ("Rome", 0.0)),  # a fallback is never independent
        (["=Rome", "=Rome"], ("Rome", 0.0)),
        (["Rome", "the ROME!"], ("Rome", 1.0)),  # two agree
        (["Rome", "-Rome"], ("Rome", 1.0)),
        (["-Rome", "-Rome"], ("Rome", 1.0)),
        (["Rome", "Paris"], ("Rome", 0.5)),  # they divide
        (["-Rome", "Paris"], ("Paris", 0.5)),
        (["Rome", "Paris", "Bonn", "Oslo"], ("Rome", 0.5)),
        (["Rome", "Paris", "Paris"], ("Paris", 1.0)),  # 2-1
        (["Rome", "Paris", "Paris", "Bonn"], ("Paris", 1.0)),
        (["Rome", "Paris", "Rome", "Rome"], ("Rome", 1.0)),  # 3-1
        (["Rome", "Paris", "Paris", "Rome"], ("Rome", 0.5)),  # 2-2
        (["Rome", "Rome", "-Paris", "-Paris"], ("Rome", 0.5)),  # 2-2 by passes, whatever their weights
        (["Rome", "=Rome", "-Paris", "-Paris"], ("Rome", 0.5)),  # 1.25 against 1.0, and more passes stand for the other
        (["Rome", "-Paris", "-Paris"], ("Rome", 0.5)),  # 1.0 against 1.0, the earlier; 1-2
        (["=Rome", "-Paris"], ("Paris", 0.0)),  # one independent answer
        (["=Rome", "-Paris", "-Paris"], ("Paris", 1.0)),
        ([None, None], (None, 0.0)),  # no answer
    ],
)
def test_four_pass_by_votes(answers, wanted):
    assert said("four-pass", *passes(*answers)) == wanted


def test_a_pass_votes_for_what_was_accepted_else_for_its_last_attempt():
    first = trace(1, [turned_back("Paris", 0.9), submission("Rome", 0.2, turn=2)])
    second = trace(2, [turned_back("Bonn", 0.9), turned_back("Rome", 0.1, turn=2), submission(None, 0.0, turn=3)])
    assert said("four-pass", first, second) == ("Rome", 1.0)


def test_a_pass_that_failed_after_an_attempt_votes():
    assert said("four-pass", trace(1, [submission("Rome", 0.4)]), failed(2, [turned_back("Rome", 0.1)])) == (
        "Rome",
        1.0,
    )


def test_verified_entailment_breaks_ties_and_nothing_else():
    rome, paris = [nugget("a", 0.6)], [nugget("b", 0.8)]
    one, other = trace(1, [submission("Rome", 0.4)], rome), trace(2, [submission("Paris", 0.1)], paris)
    assert said("four-pass", one, other) == ("Paris", 0.5)
    lost = [nugget("b", 0.8, verified=False), nugget("c", 0.9, retracted=True)]
    assert said("four-pass", one, trace(2, [submission("Paris", 0.1)], lost)) == ("Rome", 0.5)
    assert said("four-pass", one, trace(2, [turned_back("Paris", 0.1)], paris)) == ("Rome", 0.5)


def test_four_pass_files_the_weightiest_vote_then_the_earliest():
    assert answer("four-pass", *passes("-rome", "=Rome", "ROME", "Rome")) == ("ROME", 1.0, "pass-3 turn 3")


def test_the_weights_are_those_of_the_configuration():
    equal = {"accepted": 1.0, "turned_back": 1.0, "fallback": 1.0}
    assert said("four-pass", *passes("-Rome", "Paris"), four_pass=equal) == ("Rome", 0.5)
    assert said("four-pass", *passes("=Rome", "=Rome", "Paris"), four_pass=equal) == ("Rome", 0.0)


def test_rules_group_by_what_counts_as_the_same():
    traces = {"q": passes("Rome", "Roma", "Paris")}
    for run, confidence in (("four-pass", 1.0), ("AC-3", 0.8), ("AC-3-per-pass", 0.8)):
        by_letters = file_answers(traces, {}, rule_settings(answers=[run]), lambda qid, text: text[:3])
        assert by_letters.entries[0].confidence == pytest.approx(confidence)


# --- baselines -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("run", "confidence"), [("constant-50", 0.5), ("always-100", 1.0), ("always-0", 0.0)])
def test_a_baseline_has_the_answers_of_its_run_at_one_confidence_refusals_too(run, confidence):
    traces = [*passes("Rome", "Paris", "Paris"), trace(1, [], qid="r")]
    base, entries = filed("four-pass", traces), filed(run, traces)
    assert {qid: e.answer for qid, e in entries.items()} == {"q": "Paris", "r": None}
    for qid, entry in entries.items():
        assert (entry.run, entry.confidence) == (run, confidence)
        assert (entry.origin, entry.nuggets, entry.passage_run) == (
            base[qid].origin, base[qid].nuggets, base[qid].passage_run,
        )  # fmt: skip
    assert filed(run, traces, baselines_of="AC-1")["q"].answer == "Rome"


# --- properties ----------------------------------------------------------------------------------

# other jobs may share the machine
slowly = settings(deadline=None)

WORDS = st.sampled_from(["Rome", "rome!", "the Rome", "Paris", "PARIS", "Bonn", None])
SUBMISSIONS = st.builds(
    submission,
    WORDS,
    st.floats(0, 1),
    accepted=st.booleans(),
    turn=st.integers(1, 9),
    origin=st.sampled_from(["own", "fallback"]),
)
PASSES = st.lists(st.tuples(st.lists(SUBMISSIONS, max_size=3), st.floats(0, 1)), min_size=1, max_size=4).map(
    lambda each: [trace(n, made, [nugget("b", strength)]) for n, (made, strength) in enumerate(each, start=1)]
)


@slowly
@given(PASSES)
def test_ac_2_is_never_less_confident_than_ac_1(traces):
    assert said("AC-2", *traces)[1] >= said("AC-1", *traces)[1]


@slowly
@given(PASSES)
def test_ac_3_is_never_less_confident_than_ac_2_or_than_itself_by_passes(traces):
    assert said("AC-3", *traces)[1] >= said("AC-2", *traces)[1]
    assert said("AC-3", *traces)[1] >= said("AC-3-per-pass", *traces)[1] >= said("AC-2", *traces)[1]


@slowly
@given(PASSES)
def test_four_pass_knows_three_confidences_and_rises_with_a_pass_that_agrees(traces):
    answer, confidence = said("four-pass", *traces)
    assert confidence in (0.0, 0.5, 1.0)
    if answer is not None:
        more = [*traces, trace(len(traces) + 1, [submission(answer, 0.1)])]
        again, surer = said("four-pass", *more)
        assert answer_key(again) == answer_key(answer)
        assert surer >= confidence


@slowly
@given(PASSES)
def test_four_pass_does_not_see_how_an_answer_is_written_or_how_sure_a_pass_is(traces):
    spelled = {"rome": "The Rome", "paris": "«Paris»", "bonn": "bonn."}
    again = [
        trace(
            one.pass_number,
            [
                submission(s.text and spelled[answer_key(s.text)], 0.5, s.accepted, s.turn, s.origin)
                for s in one.submissions
            ],
            one.nuggets,
        )
        for one in traces
    ]
    before, after = answer("four-pass", *traces), answer("four-pass", *again)
    assert before[1:] == after[1:]
    assert (before[0] and answer_key(before[0])) == (after[0] and answer_key(after[0]))


@slowly
@given(st.lists(PASSES, min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_the_order_of_questions_changes_no_entry(questions, shuffle):
    named = {f"q{n}": made for n, made in enumerate(questions)}
    named = {
        qid: [trace(t.pass_number, t.submissions, t.nuggets, qid=qid, events=spoke(t.pass_number)) for t in made]
        for qid, made in named.items()
    }
    order = list(named)
    shuffle.shuffle(order)
    one = file_answers(named, {}, rule_settings())
    other = file_answers({qid: named[qid] for qid in order}, {}, rule_settings())
    key = lambda entry: (entry.run, entry.qid)  # noqa: E731
    assert sorted(one.entries, key=key) == sorted(other.entries, key=key)
    assert one.notes == other.notes


@slowly
@given(st.lists(PASSES, min_size=1, max_size=6), st.floats(0, 1))
def test_baselines_have_the_hmr_that_a_constant_has(questions, share):
    named = {f"q{n}": [replace(t, qid=f"q{n}") for t in made] for n, made in enumerate(questions)}
    for run, c in (("constant-50", 0.5), ("always-100", 1.0), ("always-0", 0.0)):
        entries = file_answers(named, {}, rule_settings(answers=[run])).entries
        stated = np.array([entry.confidence for entry in entries])
        assert HMR(stated, np.zeros(len(entries), bool)) == (2 * (1 - c) / (2 - c))  # all wrong: R_U is 1
        right = np.arange(len(entries)) < share * len(entries)
        if right.any() and not right.all():
            assert HMR(stated, right) == pytest.approx(2 * c * (1 - c))


# --- all rules -----------------------------------------------------------------------------------

ALL = [*ANSWER_RUNS, *BASELINES]


@pytest.mark.parametrize("run", ALL)
class TestEveryRule:
    def test_files_no_entry_where_every_pass_failed_before_an_attempt(self, run):
        assert filed(run, [failed(1), failed(2), trace(1, [], qid="r", events=spoke(4))]).keys() == {"r"}

    def test_files_no_entry_where_no_pass_ran(self, run):
        assert filed(run, [skipped(1), trace(1, [], qid="r", events=spoke(4))]).keys() == {"r"}

    def test_files_a_refusal_where_every_pass_refuses(self, run):
        entry = filed(run, [trace(n, [submission(None, 0.3)], events=spoke(4)) for n in (1, 2)])["q"]
        assert (entry.answer, entry.origin, entry.pass_number) == (None, "no answer", None)
        assert entry.confidence == {"constant-50": 0.5, "always-100": 1.0}.get(run, 0.0)

    def test_files_the_attempt_of_a_pass_that_failed_later(self, run):
        made = failed(1, [turned_back("Rome", 0.2)])
        entry = filed(run, [trace(1, [], qid="r", events=spoke(4)), made])["q"]
        assert (entry.answer, entry.pass_number) == ("Rome", 1)

    def test_files_only_verified_nuggets_of_its_passage_run(self, run):
        some = [nugget("b"), nugget("x"), nugget("c", verified=False), nugget("p", retracted=True)]
        traces = [trace(1, [submission("Rome", 0.4)], some, events=spoke(4)), trace(2, [], [nugget("c")])]
        entry = filed(run, traces)["q"]
        passes = 1 if entry.passage_run == "PG-1" else 2
        assert [n.passage_id for n in entry.nuggets] == ["b", "c"][:passes]

    def test_files_no_nugget_where_there_are_no_passage_runs(self, run):
        traces = {"q": [trace(1, [submission("Rome", 0.4)], [nugget("b")], events=spoke(4))]}
        [entry] = file_answers(traces, {}, rule_settings(answers=[run])).entries
        assert entry.nuggets == []

    def test_files_a_log_without_confidence_only_where_it_needs_none(self, run):
        made = [trace(n, [submission("Rome", None)], recorded=[], events=spoke(4)) for n in (1, 2)]
        result = file_answers({"q": made}, {}, rule_settings(answers=[run]))
        needs = set(ANSWER_RUNS["four-pass" if run in BASELINES else run].needs)
        assert [entry.run for entry in result.entries] == ([] if needs else [run])
        assert [need for need in needs if need not in result.notes[0]] == []

    def test_files_a_log_that_records_what_it_needs(self, run):
        made = [trace(n, [submission("Rome", 0.4)], recorded=list(ASPECTS), events=spoke(4)) for n in (1, 2)]
        assert filed(run, made)["q"].answer == "Rome"

    def test_files_confidences_from_0_to_1_and_its_own_name(self, run):
        traces = [trace(n, [submission("Rome", 0.9)], events=spoke(4)) for n in (1, 2, 3)]
        entry = filed(run, traces)["q"]
        assert entry.run == run and 0 <= entry.confidence <= 1

    def test_quotes_the_sentence_that_it_implements(self, run):
        rule = BASELINES[run] if run in BASELINES else ANSWER_RUNS[run].choose
        assert '"' in rule.__doc__


def test_a_log_whose_confidences_are_partly_missing_has_none():
    made = [
        trace(1, [submission("Rome", 0.4)], recorded=["confidence"]),
        trace(2, [submission("Rome", None)], recorded=["confidence"]),
    ]
    assert filed("AC-2", made) == {}
    assert filed("AC-1", made)["q"].confidence == 0.4
    refusal = trace(2, [submission(None, None)], recorded=["confidence"])
    assert filed("AC-2", [made[0], refusal])["q"].confidence == 0.4
