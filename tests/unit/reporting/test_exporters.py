"""Exports read back: TREC runs by our reader, TREC RAG by the rules of its checker, inspect_ai's log by inspect_ai."""

import json
import re
import unicodedata
from importlib.util import find_spec
from pathlib import Path

import msgspec
import pytest
from gold_labels import gold_labels
from msgspec.structs import replace
from run_traces import nugget
from sample_traces import FIRST, PROMPT, PROMPT_HASH, TRACES

from calibrag.configuration import load_yaml
from calibrag.errors import MissingModelError
from calibrag.records import Hit, Passage, Question
from calibrag.reporting.exporters import EXPORTERS, Material
from calibrag.retrieval.runs import read_run
from calibrag.runs import r2c2
from calibrag.runs.r2c2_validation import check_run
from calibrag.trace import RunEntry, SearchEvent

ROOT = Path(__file__).parents[3]
AGAIN = SearchEvent(turn=10, query="more", hits=[Hit("Mann#0", 1, 0.5), Hit("Z#0", 2, -0.25)])
LONGER = replace(FIRST, qid="q2", events=[*FIRST.events, AGAIN])
QUESTIONS = [
    Question(qid="q1", text="Who directed Heat?", type="bridge", answers=["Michael Mann"]),
    Question(qid="q2", text="Who shot it?", answers=["Dante Spinotti"]),
    Question(qid="q3", text="When?", answers=["1995"]),
]


def entry(qid, answer, origin, confidence=0.5):
    return RunEntry(
        run="AC-1", qid=qid, answer=answer, confidence=confidence, nuggets=[], passage_run="PG-1", origin=origin
    )


def passage(passage_id, text):
    return Passage(
        passage_id=passage_id,
        doc_id=passage_id,
        title="",
        heading=None,
        kind="text",
        ordinal=0,
        start=0,
        end=1,
        text=text,
    )


MATERIAL = Material(
    questions=QUESTIONS,
    traces={"q1": TRACES, "q2": [LONGER]},
    runs={
        "AC-1": [entry("q1", "Michael Mann", "pass-1 turn 9"), entry("q2", "Mann", "pass-1 turn 7 (turned back)", 0.1)],
        "AC-2": [entry("q1", "Michael Mann", "pass-2 turn 2"), entry("q2", None, "no answer", 0.0)],
    },
    passage_runs={"PG-1": {"q1": ["Mann#0", "Z#0"]}, "PG-2": {}},
    passages={one: passage(one, f"{one};\n1") for one in ("Mann#0", "Z#0")},
    right=gold_labels(QUESTIONS, {"q1": TRACES, "q2": [LONGER]}).right,
    prompts={PROMPT_HASH: PROMPT},
    team="T",
)


def exported(name, folder, material=MATERIAL):
    EXPORTERS[name](material, folder)
    return {str(path.relative_to(folder)): path for path in sorted(folder.rglob("*")) if path.is_file()}


# --- R2C2 ----------------------------------------------------------------------------------------


def test_runs_are_filed_as_r2c2_takes_them_and_hold_no_violation(tmp_path):
    files = exported("r2c2", tmp_path)
    assert list(files) == [f"T-{name}.txt" for name in ("AC-1", "AC-2", "PG-1", "PG-2")] + ["runs.csv", "topics.xml"]
    topics = r2c2.read_topics(files["topics.xml"])
    assert topics == ["q1", "q2", "q3"]
    for name in ("T-AC-1.txt", "T-AC-2.txt", "T-PG-1.txt"):
        assert check_run(files[name], topics, [files["T-PG-1.txt"]]).violations == []
    assert files["T-PG-1.txt"].read_text() == "q1;1;Mann#0;Mann#0; 1\nq1;2;Z#0;Z#0; 1\n"
    assert files["runs.csv"].read_text().splitlines()[1:] == [
        "T-PG-1.txt,PG-1",
        "T-PG-2.txt,PG-2",
        "T-AC-1.txt,AC-1",
        "T-AC-2.txt,AC-2",
    ]
    # a refusal is an empty answer
    assert [(block.answer, block.confidence) for block in r2c2.read_answers(files["T-AC-2.txt"])] == [
        ("Michael Mann", 50),
        (None, 0),
    ]


def test_nuggets_cite_their_passage_by_its_rank_and_those_of_passages_cut_off_are_left_out(tmp_path):
    ids = [f"d{n}#0" for n in range(22)]
    cited = [replace(nugget(one), claim=f"of {one}") for one in ("d1#0", "d19#0", "d20#0")]
    material = MATERIAL._replace(
        passage_runs={"PG-1": {"q1": ids}},
        passages={one: passage(one, "x") for one in ids},
        runs={"AC-1": [replace(entry("q1", "a", "pass-1 turn 1"), nuggets=cited)]},
    )
    files = exported("r2c2", tmp_path, material)
    [block] = r2c2.read_answers(files["T-AC-1.txt"])
    assert [(n.passage_run, n.rank, n.text) for n in block.nuggets] == [
        ("T-PG-1", 2, "of d1#0"),
        ("T-PG-1", 20, "of d19#0"),
    ]
    assert len(r2c2.read_passages(files["T-PG-1.txt"])["q1"]) == 20


# --- TREC runs -----------------------------------------------------------------------------------


def test_each_search_of_each_pass_is_a_run(tmp_path):
    files = exported("trec_hops", tmp_path)
    assert list(files) == ["pass-1/hop-1.txt", "pass-1/hop-2.txt", "pass-2/hop-1.txt"]
    assert read_run(files["pass-1/hop-1.txt"]) == {"q1": FIRST.events[1].hits, "q2": FIRST.events[1].hits}
    assert read_run(files["pass-1/hop-2.txt"]) == {"q2": AGAIN.hits}
    assert files["pass-1/hop-2.txt"].read_text() == (
        "q2 Q0 Mann#0 1 0.5 bitem-pass-1-hop-2\nq2 Q0 Z#0 2 -0.25 bitem-pass-1-hop-2\n"
    )


# --- TREC RAG ------------------------------------------------------------------------------------


def rag_problems(lines, topics):
    """Return what the checker of the TREC RAG track of 2024 complains about, document names aside."""
    problems = []
    for line in lines:
        answer = json.loads(line)
        missing = {"run_id", "topic_id", "topic", "references", "response_length", "answer"} - answer.keys()
        problems += [f"no {field}" for field in missing]
        if topics.get(answer["topic_id"]) != answer["topic"]:
            problems.append("topic differs")
        if len(set(answer["references"])) != len(answer["references"]) or len(answer["references"]) > 20:
            problems.append("references")
        length = 0
        for sentence in answer["answer"]:
            length += len(unicodedata.normalize("NFKC", sentence["text"].strip()).split())
            places = sentence["citations"]
            if len(set(places)) != len(places) or not all(0 <= p < len(answer["references"]) for p in places):
                problems.append("citations")
        if length != answer["response_length"]:
            problems.append("response_length")
    if len({json.loads(line)["run_id"] for line in lines}) != 1:
        problems.append("run_id")
    return problems


def test_answer_runs_pass_the_checks_of_the_rag_track(tmp_path):
    files = exported("trec_rag", tmp_path)
    assert list(files) == ["AC-1.jsonl", "AC-2.jsonl"]
    topics = {question.qid: question.text for question in QUESTIONS}
    for file in files.values():
        assert rag_problems(file.read_text().splitlines(), topics) == []


def test_an_answer_cites_what_its_own_submission_named(tmp_path):
    files = exported("trec_rag", tmp_path)
    first, second = map(json.loads, files["AC-1.jsonl"].read_text().splitlines())
    assert first == {
        "run_id": "bitem-AC-1",
        "topic_id": "q1",
        "topic": "Who directed Heat?",
        "references": ["Heat#0"],
        "response_length": 2,
        "answer": [{"text": "Michael Mann", "citations": [0]}],
        "confidence": 0.5,
    }
    assert (second["references"], second["response_length"]) == (["Heat#0"], 1)
    fallback, refusal = map(json.loads, files["AC-2.jsonl"].read_text().splitlines())
    assert fallback["references"] == ["Mann#0"]
    assert (refusal["references"], refusal["answer"], refusal["response_length"]) == ([], [], 0)


def test_references_are_known_passages_each_once_and_twenty_at_most(tmp_path):
    many = [f"P#{n}" for n in range(30)]
    search = SearchEvent(turn=1, query="q", hits=[Hit(p, n, 1.0 / n) for n, p in enumerate(many, start=1)])
    submission = replace(FIRST.submissions[1], passage_ids=["P#3", "made up", "P#3", *many], text="ﬁfty ½")
    trace = replace(FIRST, events=[search], submissions=[submission])
    right = gold_labels(QUESTIONS, {"q1": [trace]}).right
    material = MATERIAL._replace(
        right=right, traces={"q1": [trace]}, runs={"AC-1": [entry("q1", "ﬁfty ½", "pass-1 turn 9")]}
    )
    [line] = exported("trec_rag", tmp_path, material)["AC-1.jsonl"].read_text().splitlines()
    references = json.loads(line)["references"]
    assert references[:3] == ["P#3", "P#0", "P#1"]
    assert len(references) == 20
    assert "made up" not in references
    assert rag_problems([line], {"q1": "Who directed Heat?"}) == []


# --- inspect_ai ----------------------------------------------------------------------------------

INSTALLED = pytest.mark.skipif(
    find_spec("inspect_ai") is None, reason="inspect_ai is not installed (requirements-inspect.txt)"
)


def test_without_inspect_ai_the_export_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr("calibrag.reporting.exporters.inspect_ai.find_spec", lambda name: None)
    with pytest.raises(MissingModelError, match="requirements-inspect.txt"):
        exported("inspect_ai", tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def log(tmp_path):
    from inspect_ai.log import read_eval_log

    read = read_eval_log(str(exported("inspect_ai", tmp_path)["traces.eval"]), resolve_attachments=True)
    # it reads epoch by epoch
    read.samples.sort(key=lambda sample: (sample.id, sample.epoch))
    return read


@INSTALLED
def test_inspect_ai_reads_a_sample_for_each_question_and_pass_that_ran(log):
    assert log.status == "success"
    assert (log.eval.task, log.eval.model, log.eval.config.epochs) == ("film", "calibrag/bitem", 3)
    assert [(sample.id, sample.epoch) for sample in log.samples] == [("q1", 1), ("q1", 2), ("q1", 3), ("q2", 1)]
    scores = [{name: score.value for name, score in sample.scores.items()} for sample in log.samples]
    # a pass that failed is not an answer that is wrong
    assert [score.get("answer") for score in scores] == ["C", "C", None, "I"]
    assert [score.get("confidence") for score in scores] == [0.5, 0.3, None, 0.5]
    answer, confidence = log.results.scores
    assert answer.metrics["accuracy"].value == pytest.approx(2 / 3)
    assert confidence.metrics["mean"].value == pytest.approx(1.3 / 3)
    assert (confidence.scored_samples, confidence.unscored_samples) == (3, 1)
    assert (log.results.completed_samples, log.results.total_samples) == (3, 9)


@INSTALLED
def test_inspect_ai_reads_every_event_in_its_place(log):
    sample = log.samples[0]
    kinds = [(event.event, getattr(event, "function", None)) for event in sample.events]
    assert kinds == [
        ("model", None),
        ("tool", "search"),
        ("tool", "entity_search"),
        ("tool", "read"),
        ("tool", "record"),
        ("tool", "record"),
        ("tool", "retract"),
        ("tool", "answer"),
        ("info", None),
        ("tool", "search"),
        ("model", None),
        ("tool", "answer"),
        ("info", None),
        ("score", None),
        ("score", None),
    ]
    assert json.loads(sample.events[1].result)["hits"] == msgspec.to_builtins(FIRST.events[1].hits)
    assert sample.events[9].error.message == "the query must not be empty"
    assert sample.events[9].arguments == {"query": ""}
    assert sample.events[1].working_start == 0.5
    assert sample.events[-1].working_start == FIRST.usage.seconds
    assert sample.events[8].data["conditions"][1]["passed"] is False


@INSTALLED
def test_inspect_ai_reads_the_transcript_with_prompt_reasoning_and_calls(log):
    event = log.samples[0].events[0]
    assert [(message.role, message.text) for message in event.input] == [
        ("system", PROMPT),
        ("user", "Who directed Heat?"),
    ]
    reply = event.output.choices[0].message
    assert [part.type for part in reply.content] == ["reasoning", "text"]
    assert reply.text == "I search."
    assert (reply.tool_calls[0].function, reply.tool_calls[0].arguments) == ("search", {"query": "Heat director"})
    assert event.output.choices[0].stop_reason == "tool_calls"
    assert (event.output.usage.input_tokens, event.output.usage.total_cost) == (20, 0.002)
    reader = log.samples[0].events[10]
    assert (reader.cache, reader.output.completion) == ("read", "1.000  Mann")
    assert log.samples[0].model_usage["stub"].total_tokens == 30


@INSTALLED
def test_inspect_ai_reads_a_fallback_as_no_call_and_a_fault_as_an_error(log):
    fallback, fault = log.samples[1], log.samples[2]
    assert [e.event for e in fallback.events] == ["tool", "tool", "info", "info", "info", "info", "score", "score"]
    assert [e.source for e in fallback.events if e.event == "info"] == ["gate", "fallback", "fallback", "gate"]
    assert fault.error.message == "RuntimeError: index gone"
    assert [event.event for event in fault.events] == ["error"]


@INSTALLED
@pytest.mark.parametrize("arguments", ["{", "[1]", "7", ""])
def test_arguments_that_are_no_object_are_kept_as_text(arguments):
    from calibrag.reporting.exporters.inspect_models import parsed

    assert parsed(arguments) == ({"unparsed": arguments} if arguments else {})


@INSTALLED
@pytest.mark.parametrize(
    ("stop_reason", "kind", "limit"),
    [
        ("turn_limit", "turn", 9),
        ("token_limit", "token", 42),
        ("time_limit", "working", 0.875),
        ("context_limit", "context", 30),
    ],
)
def test_a_limit_is_a_limit_of_the_sample(stop_reason, kind, limit):
    from calibrag.reporting.exporters.inspect_log import sample

    trace = replace(FIRST, stop_reason=stop_reason, answer=None, confidence=None)
    told = sample(QUESTIONS[0], trace, {}).limit
    assert (told.type, told.limit) == (kind, limit)


@INSTALLED
def test_a_pass_that_refuses_has_no_answer():
    from calibrag.reporting.exporters.inspect_log import sample

    assert sample(QUESTIONS[0], replace(TRACES[1], answer=None), {}).scores["answer"].value == "N"


@INSTALLED
def test_the_same_traces_give_the_same_log():
    from calibrag.reporting.exporters.inspect_log import eval_log

    assert eval_log(MATERIAL).model_dump_json() == eval_log(MATERIAL).model_dump_json()


def test_the_formats_of_the_configuration_are_the_exporters():
    schema = load_yaml(ROOT / "workflow" / "schemas" / "config.schema.yaml")
    assert schema["properties"]["reporting"]["properties"]["exports"]["items"]["enum"] == list(EXPORTERS)
    [wildcard] = re.findall(r'"format": "([\w|]+)"', (ROOT / "workflow/src/calibrag/inputs.py").read_text())
    assert wildcard.split("|") == list(EXPORTERS)
