"""Every rule of traces: kept by the samples, and broken once or more."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace
from sample_traces import FIRST, FOURTH, PROMPT, PROMPT_HASH, SECOND, THIRD, TRACES, condition

from calibrag.command import main
from calibrag.execution.trace_rules import RULES
from calibrag.execution.trace_validation import check_traces
from calibrag.records import Hit, write_jsonl
from calibrag.trace import ASPECTS

ROOT = Path(__file__).parents[3]
SCHEMA = ROOT / "workflow" / "schemas" / "trace.schema.json"


def event(trace, index, **changes):
    """Return the trace with one event changed."""
    events = list(trace.events)
    events[index] = replace(events[index], **changes)
    return replace(trace, events=events)


def without(trace, index):
    return replace(trace, events=trace.events[:index] + trace.events[index + 1 :])


def nugget(trace, index, **changes):
    nuggets = list(trace.nuggets)
    nuggets[index] = replace(nuggets[index], **changes)
    return replace(trace, nuggets=nuggets)


def submission(trace, index, **changes):
    submissions = list(trace.submissions)
    submissions[index] = replace(submissions[index], **changes)
    return replace(trace, submissions=submissions)


def used(trace, **changes):
    return replace(trace, usage=replace(trace.usage, **changes))


@pytest.fixture
def check(tmp_path):
    def checked(traces, prompts=None):
        (tmp_path / "prompts.json").write_text(json.dumps({PROMPT_HASH: PROMPT} if prompts is None else prompts))
        write_jsonl(tmp_path / "traces.jsonl", traces)
        return check_traces([tmp_path / "traces.jsonl"]).violations

    return checked


(MODEL, SEARCH, ENTITIES, READ, HEAT, ALI, RETRACT, EARLY, EARLY_GATE, ERROR, READER, LATE, LATE_GATE) = range(13)
FAILED = [condition("passages", False)]

BROKEN = [
    ("turns", 1, event(FIRST, SEARCH, turn=5), "turn 2 follows turn 5"),
    ("turns", 1, event(FIRST, MODEL, turn=-1), "turn -1 follows turn 0"),
    ("rankings", 1, event(FIRST, SEARCH, hits=[Hit("Heat#0", 1, 2.5), Hit("Ali#0", 3, 1.5)]), "must be 2 (got 3)"),
    ("rankings", 1, event(FIRST, ENTITIES, hits=[Hit("Mann#0", 0, 1.25)]), "must be 1 (got 0)"),
    ("rankings", 1, event(FIRST, ENTITIES, hits=[Hit("Mann#0", 1, 1.0), Hit("Mann#0", 2, 1.0)]), "comes twice"),
    ("rankings", 1, event(FIRST, ENTITIES, hits=[Hit("Mann#0", 1, 1.0), Hit("x", 2, 1.5)]), "must not rise"),
    ("bounds", 1, replace(FIRST, confidence=1.5), "the confidence of the pass"),
    ("bounds", 1, nugget(FIRST, 0, entailment=-0.1), "entailment of nugget n1"),
    ("bounds", 1, event(FIRST, HEAT, entailment=1.01), "entailment of turn 4"),
    ("bounds", 1, event(FIRST, LATE_GATE, confidence=2.0), "confidence of the gate in turn 9"),
    ("bounds", 1, submission(FIRST, 1, confidence=2.0), "confidence of the submission of turn 9"),
    ("bounds", 1, event(FIRST, READER, probabilities=[1.2]), "a probability of turn 8"),
    ("amounts", 1, event(FIRST, READ, seconds=-1.0), "seconds of turn 3"),
    ("amounts", 1, event(FIRST, MODEL, prompt_tokens=-1), "prompt_tokens of a model in turn 0"),
    ("amounts", 1, used(FIRST, entailments=-1), "usage.entailments"),
    ("lists", 1, event(FIRST, SEARCH, sources=["dense"]), "2 hits and 1 sources"),
    ("lists", 1, event(FIRST, SEARCH, neighbours={"Mann#0": ["Heat#1"]}), "neighbours of Mann#0"),
    ("lists", 1, event(FIRST, READER, candidates=[]), "0 candidates and 1 probabilities"),
    ("records", 1, without(FIRST, HEAT), "nugget n1 has no record event"),
    ("records", 1, replace(FIRST, nuggets=FIRST.nuggets[1:]), "names nugget n1, which is not among the nuggets"),
    ("records", 1, nugget(FIRST, 0, claim="another"), "claim of nugget n1 must be as recorded"),
    ("records", 1, event(FIRST, ALI, nugget_id="n1"), "nugget n1 is recorded twice"),
    ("records", 1, replace(FIRST, nuggets=[*FIRST.nuggets, FIRST.nuggets[0]]), "a nugget_id comes twice"),
    ("retractions", 1, without(FIRST, RETRACT), "n2 is marked as retracted without"),
    ("retractions", 1, nugget(FIRST, 1, retracted=False), "n2 was retracted, and is not marked"),
    ("retractions", 1, event(FIRST, RETRACT, nugget_id="n9"), "retracts nugget n9, which is not recorded by then"),
    ("passages_met", 1, event(FIRST, READ, passage_id="Z#0"), "read of turn 3: Z#0 was not met"),
    ("passages_met", 1, event(FIRST, HEAT, passage_id="Z#0"), "record of turn 4: Z#0 was not met"),
    ("passages_met", 1, event(FIRST, LATE, passage_ids=["Z#0"]), "answer of turn 9: Z#0 was not met"),
    ("passages_met", 1, nugget(FIRST, 0, passage_id="Z#0"), "nugget n1: Z#0 was not met"),
    ("passages_excluded", 1, replace(FIRST, excluded=["Mann#0"]), "entity_search of turn 2 returned Mann#0"),
    ("passages_excluded", 1, replace(FIRST, excluded=["Heat#1"]), "search of turn 1 returned Heat#1"),
    ("passages_excluded", 1, replace(FIRST, excluded=["Heat#0"]), "nugget n1 cites Heat#0"),
    ("passages_retrieved", 1, replace(FIRST, retrieved={"Heat#0": 2.5}), "must map Ali#0 to 1.5 (got None)"),
    ("passages_retrieved", 1, replace(FIRST, retrieved=FIRST.retrieved | {"Mann#0": 1.25}), "must map Mann#0 to None"),
    ("rulings", 1, without(FIRST, EARLY_GATE), "the answer of turn 7 is not followed"),
    ("rulings", 1, without(FIRST, EARLY), "1 of 2 rulings of the gate do not follow an answer"),
    ("rulings", 1, replace(FIRST, submissions=FIRST.submissions[1:]), "2 answers were submitted, and 1 are"),
    ("rulings", 1, submission(FIRST, 0, text="Other"), "text of the submission of turn 7"),
    ("rulings", 1, submission(FIRST, 1, confidence=0.4), "confidence of the submission of turn 9"),
    ("rulings", 1, submission(FIRST, 0, reasons=[]), "reasons of the submission of turn 7"),
    ("rulings", 1, submission(FIRST, 0, accepted=True), "accepted of the submission of turn 7"),
    ("conditions", 1, event(FIRST, LATE_GATE, conditions=FAILED), "is accepted, though passages failed"),
    ("conditions", 1, event(FIRST, EARLY_GATE, conditions=FIRST.events[LATE_GATE].conditions), "though no condition"),
    ("conditions", 1, event(FIRST, LATE_GATE, conditions=[]), "was held to no condition"),
    ("filed", 1, replace(FIRST, answer="Mann"), "answer must be 'Michael Mann'"),
    ("filed", 1, replace(FIRST, confidence=0.1), "confidence must be 0.5"),
    ("filed", 1, replace(FIRST, submissions=FIRST.submissions[:1]), "answer must be None"),
    ("fallback", 2, submission(SECOND, 1, source_pass=None), "must name an earlier pass (got None)"),
    ("fallback", 2, submission(SECOND, 1, source_pass=2), "must name an earlier pass (got 2)"),
    ("fallback", 2, submission(SECOND, 1, text="Someone"), "is no answer of pass 1's own: 'Someone'"),
    ("fallback", 2, submission(SECOND, 0, source_pass=1), "must name no source_pass (got 1)"),
    ("fallback", 2, replace(SECOND, submissions=SECOND.submissions[::-1]), "is a fallback, and another follows"),
    ("stop", 1, replace(FIRST, stop_reason="no_call"), "'no_call', and an answer was accepted"),
    ("stop", 1, replace(FIRST, submissions=FIRST.submissions[:1]), "and an answer was not accepted"),
    ("stop", 1, replace(FIRST, submissions=FIRST.submissions[::-1]), "submitted after an accepted one"),
    ("stop", 1, replace(FIRST, status="error"), "status must be 'ok'"),
    ("stop", 3, replace(THIRD, status="ok"), "status must be 'error'"),
    ("stop", 3, replace(THIRD, events=[]), "the last event is no error"),
    ("stop", 4, replace(FOURTH, stop_reason="context_limit"), "no error says so"),
    ("stop", 4, replace(FOURTH, retrieved={"x": 1.0}), "'skipped', and there are"),
    ("usage", 1, used(FIRST, searches=2), "usage.searches must be 1"),
    ("usage", 1, used(FIRST, entity_searches=0), "usage.entity_searches must be 1"),
    ("usage", 1, used(FIRST, tool_calls=8), "usage.tool_calls must be 9"),
    ("usage", 1, used(FIRST, rejected_calls=0), "usage.rejected_calls must be 1"),
    ("usage", 1, event(FIRST, RETRACT, accepted=False), "usage.rejected_calls must be 2"),
    ("usage", 1, event(FIRST, HEAT, nugget_id=None, verified=False), "usage.rejected_calls must be 2"),
    ("usage", 1, used(FIRST, model_calls=1), "usage.model_calls must be 2"),
    ("usage", 1, used(FIRST, cached_calls=2), "usage.cached_calls must be 1"),
    ("usage", 1, used(FIRST, tokens=41), "usage.tokens must be 42"),
    ("usage", 1, used(FIRST, cost=None), "usage.cost must be 0.002"),
    ("usage", 1, used(FIRST, seconds=0.8), "usage.seconds must be"),
    ("usage", 1, used(FIRST, entailments=1), "usage.entailments must be 2 or more"),
    ("usage", 1, used(FIRST, second_entailments=0), "usage.second_entailments must be 1 or more"),
    ("usage", 3, used(THIRD, rejected_calls=1), "usage.rejected_calls must be 0"),
    ("passes", 1, replace(FIRST, pass_number=2), "must be 1 after 0 earlier passes (got 2)"),
    ("passes", 4, replace(FOURTH, pass_number=3), "must be 4 after 3 earlier passes (got 3)"),
    ("exclusions", 2, replace(SECOND, excluded=["Ali#0"]), "Heat#0 was recorded by an earlier pass"),
    ("exclusions", 1, replace(FIRST, excluded=["X#0"]), "X#0 is excluded, and no earlier pass recorded it"),
    ("prompts", 1, event(FIRST, MODEL, prompt="0" * 64), "does not hold prompt 000"),
]  # fmt: skip


def test_the_samples_keep_every_rule(check):
    assert check(TRACES) == []


@pytest.mark.parametrize(("rule", "line", "broken", "problem"), BROKEN, ids=[f"{b[0]}: {b[3]}" for b in BROKEN])
def test_a_broken_trace_is_told_by_rule_and_place(check, rule, line, broken, problem):
    found = check([*TRACES[: line - 1], broken, *TRACES[line:]])
    told = [violation for violation in found if violation.rule == rule and problem in violation.problem]
    assert told, [str(violation) for violation in found]
    assert {violation.line for violation in told} == {line}
    assert told[0].pass_number == broken.pass_number


@pytest.mark.parametrize(
    ("rule", "aspect", "broken"),
    [("rulings", "gate", without(FIRST, LATE_GATE)), ("passages_met", "hits", event(FIRST, READ, passage_id="Z#0"))],
)
def test_a_rule_is_left_out_only_where_what_it_reads_was_not_recorded(check, rule, aspect, broken):
    others = [other for other in ASPECTS if other != aspect]
    told = [
        {violation.rule for violation in check([replace(broken, recorded=recorded)])} & {rule}
        for recorded in (None, list(ASPECTS), others)
    ]
    assert told == [{rule}, {rule}, set()]


def test_every_rule_is_broken_above():
    assert list(dict.fromkeys(rule for rule, *_ in BROKEN)) == list(RULES)


def test_prompts_are_held_against_the_file_beside_the_traces(check, tmp_path):
    [violation] = check(TRACES, prompts={PROMPT_HASH: "Another text."})
    assert "another SHA-256" in violation.problem
    (tmp_path / "prompts.json").unlink()
    [violation] = check_traces([tmp_path / "traces.jsonl"]).violations
    assert "no prompts.json" in violation.problem
    (tmp_path / "prompts.json").write_text("[]")
    first, second = check_traces([tmp_path / "traces.jsonl"]).violations
    assert "must map SHA-256 to text" in first.problem
    assert "no prompts.json" in second.problem


def test_passes_in_files_of_their_own_are_held_against_each_other(tmp_path):
    files = []
    for trace in reversed(TRACES):
        folder = tmp_path / f"pass-{trace.pass_number}"
        folder.mkdir()
        (folder / "prompts.json").write_text(json.dumps({PROMPT_HASH: PROMPT}))
        write_jsonl(folder / "traces.jsonl", [trace, replace(trace, qid="q2"), replace(trace, system="other")])
        files.append(folder / "traces.jsonl")
    assert check_traces(files) == ([], 12)
    alone = check_traces([tmp_path / "pass-2" / "traces.jsonl"])
    assert alone.traces == 3
    assert {violation.rule for violation in alone.violations} == {"passes", "exclusions", "fallback"}


def test_every_line_that_is_no_trace_is_told_and_the_others_are_read(check, tmp_path):
    check(TRACES)
    lines = (tmp_path / "traces.jsonl").read_text().splitlines()
    old = json.loads(lines[2]) | {"schema_version": 3}
    (tmp_path / "traces.jsonl").write_text("\n".join(["{", "", json.dumps(old), '{"qid": 1}', lines[0]]) + "\n")
    checked = check_traces([tmp_path / "traces.jsonl"])
    assert [(violation.line, violation.rule) for violation in checked.violations] == [(n, "schema") for n in (1, 3, 4)]
    assert "schema_version must be 4 (got 3)" in checked.violations[1].problem
    assert checked.traces == 1


def test_a_file_that_breaks_off_is_told(tmp_path):
    write_jsonl(tmp_path / "traces.jsonl.gz", [FIRST])
    whole = (tmp_path / "traces.jsonl.gz").read_bytes()
    (tmp_path / "traces.jsonl.gz").write_bytes(whole[:-20])
    [violation] = check_traces([tmp_path / "traces.jsonl.gz"]).violations
    assert "unreadable from here on" in violation.problem


def test_the_command_tells_all_and_exits_accordingly(check, tmp_path, capsys):
    file = tmp_path / "traces.jsonl"
    check(TRACES)
    assert main(["validate-traces", str(file)]) == 0
    assert capsys.readouterr().out == "4 traces, 0 violations\n"
    check([used(FIRST, searches=5, tokens=1), *TRACES[1:]])
    assert main(["validate-traces", str(file)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        f"{file}:1: question q1 pass 1: usage: usage.searches must be 1, by the events (got 5)",
        f"{file}:1: question q1 pass 1: usage: usage.tokens must be 42, by the events (got 1)",
        "4 traces, 2 violations",
    ]
    assert main(["validate-traces", str(tmp_path / "none.jsonl")]) == 2
    assert "none.jsonl" in capsys.readouterr().err


def test_the_package_runs_as_the_command(check, tmp_path):
    check([used(FIRST, searches=5)])
    done = subprocess.run(
        [sys.executable, "-m", "calibrag", "validate-traces", str(tmp_path / "traces.jsonl")],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT / "workflow" / "src")},
    )
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.endswith("1 traces, 1 violations\n")


def test_the_command_writes_the_schema_that_is_kept(tmp_path):
    assert main(["trace-schema", str(tmp_path / "trace.schema.json")]) == 0
    assert (tmp_path / "trace.schema.json").read_text() == SCHEMA.read_text()
