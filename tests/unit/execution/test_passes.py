"""Passes: exclusion, the gated fourth, the journal, the error rate."""

import pytest

from calibrag.agents.protocol import Answer, Entail, Entailed, RecordNugget, Retrieval, Retrieve, Retrieved, Search
from calibrag.agents.settings import EntitySearchLimits, EvidenceAgent, Gate, Limits, PassConfidence
from calibrag.errors import RunError
from calibrag.execution.passes import Agent, Journal, Names, Passes, of_shard, recorded_passages, run_pass, wants_pass
from calibrag.execution.world import World
from calibrag.records import Hit, Passage, Question
from calibrag.trace import Nugget, Submission, Trace, Usage, without_measurements

SETTINGS = EvidenceAgent(
    gate=Gate(min_nuggets=1, strong_entailment=0.9, confidence_floor=0.2),
    limits=Limits(turns=9, tokens=9, transcript=9, seconds=None),
    verified_entailment=0.5,
    most_neighbours=0,
    entity_search=EntitySearchLimits(passages=1, names=1),
    read_sentences=2,
    confidence=PassConfidence(rule="noisy_or_evidence", full_evidence=3, turned_back_discount=0.9, overlap_weight=0.5),
    fallback_passages=0,
)
PASSES = Passes(minimum=3, maximum=4, exclude=True)
QUESTIONS = [Question(qid=f"q{n}", text=f"Who is {n}?", answers=[str(n)]) for n in range(4)]


def trace(number=1, answer="A", confidence=0.5, origin="own", nuggets=(), status="ok", qid="q0"):
    submission = Submission(
        turn=1, text=answer, passage_ids=[], confidence=confidence or 0.0, accepted=True, reasons=[], origin=origin
    )
    return Trace(
        collection="c",
        system="s",
        qid=qid,
        pass_number=number,
        excluded=[],
        events=[],
        nuggets=[
            Nugget(nugget_id="n", passage_id=p, quotes=[], claim="", entailment=0.1, verified=False) for p in nuggets
        ],
        submissions=[submission],
        retrieved={},
        answer=answer,
        confidence=confidence,
        confidence_rule="r",
        stop_reason="accepted",
        status=status,
        usage=Usage(),
    )


@pytest.mark.parametrize(
    ("last_two", "wanted"),
    [
        ([trace(2), trace(3)], True),
        ([trace(2, answer=None), trace(3)], True),
        ([trace(2), trace(3, confidence=0.1)], True),
        ([trace(2, answer=None), trace(3, confidence=0.1)], False),
        ([trace(2, origin="fallback"), trace(3, answer=None)], False),
    ],
)
def test_fourth_pass_runs_unless_the_last_two_are_both_unsure(last_two, wanted):
    assert wants_pass([trace(1), *last_two], PASSES, 0.2) is wanted


def test_minimal_passes_always_run():
    unsure = [trace(1, answer=None), trace(2, answer=None)]
    assert wants_pass(unsure, PASSES, 0.2)


def test_recorded_passages_are_those_of_all_nuggets():
    assert recorded_passages([trace(nuggets=["a", "b"]), trace(nuggets=["b", "c"])]) == {"a", "b", "c"}


def searching_policy(question):
    found = yield Search(query=question.text)
    for passage in found.passages:
        yield RecordNugget(passage_id=passage.passage_id, quotes=[passage.text], claim=passage.text)
    yield Answer(text=question.answers[0], passage_ids=[])


def world(fail=(), seen=None):
    """Answer each search with one passage that is not excluded."""

    def retrieve(effects):
        for effect in effects:
            if effect.qid in fail:
                raise ConnectionError("index is gone")
            if seen is not None:
                seen.append((effect.qid, effect.excluded))
        return [
            Retrieval(
                found=[
                    Retrieved(hit=Hit(passage_id=pid, rank=1, score=1.0), passage=passage(pid))
                    for pid in ("p0", "p1", "p2")
                    if pid not in effect.excluded
                ][:1]
            )
            for effect in effects
        ]

    return World({Retrieve: retrieve, **entail()})


def entail():
    return {Entail: lambda effects: [[Entailed(score=0.95)] * len(effect.pairs) for effect in effects]}


def passage(pid):
    return Passage(
        passage_id=pid, doc_id=pid, title=pid, heading=None, kind="text", ordinal=0, start=0, end=2, text=f"text {pid}"
    )


def one_pass(tmp_path, earlier=None, handlers=None, key="k", progress=lambda trace: None, allowed=1.0, passes=PASSES):
    return run_pass(
        QUESTIONS,
        earlier or {},
        Agent(searching_policy, SETTINGS, passes),
        handlers or world(),
        names=Names("c", "s"),
        in_flight=2,
        max_error_rate=allowed,
        journal=Journal(tmp_path / "journal", key),
        counter=lambda total, detail: progress,
    )


def test_second_pass_never_sees_recorded_passages(tmp_path):
    first = one_pass(tmp_path / "1")
    assert [list(t.retrieved) for t in first] == [["p0"]] * 4
    seen = []
    second = one_pass(tmp_path / "2", {t.qid: [t] for t in first}, world(seen=seen))
    assert all(excluded == {"p0"} for _, excluded in seen) and len(seen) == 4
    assert [list(t.retrieved) for t in second] == [["p1"]] * 4
    assert [t.pass_number for t in second] == [2] * 4


def test_without_exclusion_a_later_pass_sees_everything(tmp_path):
    all_of_it = Passes(minimum=3, maximum=4, exclude=False)
    first = one_pass(tmp_path / "1", passes=all_of_it)
    second = one_pass(tmp_path / "2", {t.qid: [t] for t in first}, passes=all_of_it)
    assert [(list(t.retrieved), t.excluded) for t in second] == [(["p0"], [])] * 4
    skipped = one_pass(
        tmp_path / "4", {"q0": [trace(n, answer=None, nuggets=["a"]) for n in (1, 2, 3)]}, passes=all_of_it
    )
    assert (skipped[0].status, skipped[0].excluded) == ("skipped", [])


def test_skipped_pass_has_a_trace_that_says_so(tmp_path):
    sure, unsure = [trace(n) for n in (1, 2, 3)], [trace(n, answer=None) for n in (1, 2, 3)]
    traces = one_pass(tmp_path, {"q0": sure, "q1": unsure, "q2": sure, "q3": unsure})
    assert [t.status for t in traces] == ["ok", "skipped", "ok", "skipped"]
    assert [t.pass_number for t in traces] == [4] * 4


def test_traces_come_in_the_order_of_the_questions(tmp_path):
    assert [t.qid for t in one_pass(tmp_path)] == [q.qid for q in QUESTIONS]


def test_killed_job_goes_on_where_it_stopped(tmp_path):
    done = []

    def killed(trace):
        done.append(trace)
        if len(done) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        one_pass(tmp_path, progress=killed)
    with (tmp_path / "journal").open("ab") as journal:
        journal.write(b'{"schema_version": 1, "half a li')
    seen = []
    traces = one_pass(tmp_path, handlers=world(seen=seen))
    assert {qid for qid, _ in seen} == {"q2", "q3"}
    whole = one_pass(tmp_path / "other")
    assert [without_measurements(t) for t in traces] == [without_measurements(t) for t in whole]


def test_journal_of_other_settings_is_not_used(tmp_path):
    one_pass(tmp_path, key="old")
    seen = []
    one_pass(tmp_path, key="new", handlers=world(seen=seen))
    assert len(seen) == 4


def test_failed_question_is_recorded_and_tried_again(tmp_path):
    traces = one_pass(tmp_path, handlers=world(fail={"q1"}))
    assert [t.status for t in traces] == ["ok", "error", "ok", "ok"]
    assert "index is gone" in traces[1].events[-1].problem
    assert [t.status for t in one_pass(tmp_path)] == ["ok"] * 4


def test_error_rate_is_allowed_up_to_its_limit_and_grouped_above(tmp_path):
    one_pass(tmp_path / "allowed", handlers=world(fail={"q1", "q2"}), allowed=0.5)
    with pytest.raises(RunError, match=r"2 of 4 questions failed(.|\n)*2 x ConnectionError: index is gone"):
        one_pass(tmp_path, handlers=world(fail={"q1", "q2"}), allowed=0.49)


def test_a_job_stops_as_soon_as_too_many_questions_failed(tmp_path):
    seen = []
    with pytest.raises(RunError, match="1 of 4"):
        one_pass(tmp_path, handlers=world(fail={"q0"}, seen=seen), allowed=0.0)
    assert "q3" not in {qid for qid, _ in seen}


def test_shards_share_the_questions_that_are_asked():
    parts = [of_shard(QUESTIONS, 3, f"{number}-of-2") for number in (1, 2)]
    assert [[q.qid for q in part] for part in parts] == [["q0", "q2"], ["q1"]]
    assert of_shard(QUESTIONS, None, "1-of-1") == QUESTIONS
