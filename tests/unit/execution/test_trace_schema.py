"""The trace schema: generated, kept, and the same for two implementations."""

import json
from pathlib import Path

import jsonschema
import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_records import records
from sample_traces import TRACES

from calibrag.execution.traces import trace_schema
from calibrag.records import read_jsonl, write_jsonl
from calibrag.trace import SCHEMA_VERSION, Trace, TraceEvent

FILE = Path(__file__).parents[3] / "workflow" / "schemas" / "trace.schema.json"
VALIDATOR = jsonschema.Draft202012Validator(trace_schema())
LENIENT = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def test_the_kept_schema_is_that_of_the_records():
    kept = json.loads(FILE.read_text(encoding="utf-8"))
    assert kept == trace_schema(), (
        "the records changed: raise trace.SCHEMA_VERSION where a field changed its meaning, then run "
        "`calibrag trace-schema workflow/schemas/trace.schema.json`"
    )
    assert kept["$id"].endswith(f":{SCHEMA_VERSION}")


def test_the_schema_is_one_and_describes_every_record():
    jsonschema.Draft202012Validator.check_schema(trace_schema())
    assert [name for name, part in trace_schema()["$defs"].items() if not part.get("description")] == []


@pytest.mark.parametrize("trace", TRACES, ids=lambda trace: f"pass-{trace.pass_number}")
def test_sample_traces_keep_to_it_and_come_back(trace, tmp_path):
    VALIDATOR.validate(msgspec.to_builtins(trace))
    write_jsonl(tmp_path / "traces.jsonl", [trace])
    assert list(read_jsonl(tmp_path / "traces.jsonl", Trace)) == [trace]


@LENIENT
@given(records(Trace))
def test_any_trace_comes_back_from_json_and_keeps_to_the_schema(trace):
    line = msgspec.json.encode(trace)
    assert msgspec.json.decode(line, type=Trace) == trace
    VALIDATOR.validate(json.loads(line))


@pytest.mark.parametrize("event", TraceEvent.__args__, ids=lambda event: event.__name__)
def test_any_event_comes_back_as_its_own_kind(event):
    @settings(max_examples=20, deadline=None)
    @given(records(event))
    def comes_back(value):
        back = msgspec.json.decode(msgspec.json.encode(value), type=TraceEvent)
        assert type(back) is event
        assert back == value

    comes_back()


@LENIENT
@given(st.sampled_from(TRACES[:2]), st.data())
def test_what_one_implementation_refuses_the_other_does(trace, data):
    """A field lost, added, or of another type, anywhere in the trace."""
    value = json.loads(msgspec.json.encode(trace))
    place = value
    while True:
        key = data.draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
        if not isinstance(place[key], dict | list) or not place[key] or data.draw(st.booleans()):
            break
        place = place[key]
    change = data.draw(st.sampled_from(["lose", "text", "number", "null", "object"]))
    if change == "lose":
        del place[key]
    else:
        place[key] = {"text": "x", "number": 7, "null": None, "object": {"unknown": 1}}[change]
    try:
        msgspec.convert(value, Trace)
        accepted = True
    except msgspec.ValidationError:
        accepted = False
    assert VALIDATOR.is_valid(value) == accepted


def test_another_version_is_refused_by_both():
    value = msgspec.to_builtins(TRACES[0]) | {"schema_version": SCHEMA_VERSION - 1}
    assert not VALIDATOR.is_valid(value)
    with pytest.raises(msgspec.ValidationError, match="schema_version"):
        msgspec.convert(value, Trace)
