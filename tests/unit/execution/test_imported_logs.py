"""Readers of logs: what each line becomes, what is refused with file and line, and what must not get into a trace."""

import gzip
import json
import lzma

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrag.errors import InputError
from calibrag.execution.imported import FORMATS
from calibrag.execution.imported.reading import read_log, traces_of_pass, write_verdicts
from calibrag.execution.trace_validation import check_traces
from calibrag.records import write_jsonl
from calibrag.trace import AnswerEvent, EntitySearchEvent, ErrorEvent, ModelEvent, ReadEvent, SearchEvent

ADARAGUE = {
    "id": "a1",
    "dataset": "hotpotqa",
    "adaptive_rag_split": "dev_500",
    "question": "Who directed Alien?",
    "gold": ["Ridley Scott", "Scott", "Scott"],
    "closed_book_cot": "Alien is by Scott. So the answer is: Scott.",
    "closed_book": "Scott",
    "closed_book_em": True,
    "closed_book_inacc": True,
    "single_retrieval": None,
    "single_retrieval_em": False,
    "single_retrieval_inacc": False,
    "multi_retrieval": "James Cameron",
    "multi_retrieval_em": False,
    "multi_retrieval_inacc": False,
}
SEAKR = {
    "qid": "s1",
    "question": "Who directed Alien?",
    "Retrieval Times": 2,
    "Call LLM Times": 11,
    "Final Step Answer": "the Scott",
    "Final Read Answer": "scott",
    "Final Answer": "scott",
    "ground_truth": "Scott",
    "last_step_eigen_score": -3.5,
    "em": True,
}
DIRECT = {
    "id": "d1",
    "question": "Who directed Alien?",
    "gold": ["Scott"],
    "answer": " ",
    "perplexity": 1.5,
    "energy_score": 23,
    "ln_entropy": 0.5,
    "eigen_score": -1.0,
    "em": False,
    "inacc": False,
}
REACT = {
    "trial": 1,
    "status": "incorrect",
    "question": "Who directed Alien?",
    "gold": "Ridley Scott",
    "pred": "Cameron",
    "search_queries": ["Alien"],
    "lookups": ["director", "maker"],
    "n_steps": 4,
    "trajectory": (
        "Question: Who directed Alien?\n"
        "Thought 1: I search\nAlien first.\nAction 1: Search[Alien]\nObservation 1: Alien is a film.\n\nIt is long.\n"
        "Thought 2: Look.\nAction 2: Lookup[director]\nObservation 2: (Result 1 / 1) Made by him.\n"
        "Thought 3: Again.\nAction 3: Lookup[maker]\nObservation 3: No Results\n"
        "Thought 4: Done.\nAction 4: Finish[Cameron]\nObservation 4: Answer is INCORRECT\nCorrect answer: Ridley Scott"
    ),
    "hotpot_id": "r1",
}
HALTED = REACT | {
    "status": "halted",
    "pred": None,
    "search_queries": [],
    "lookups": ["director"],
    "n_steps": 1,
    "trajectory": (
        "Question:  Who directed Alien?\nThought 1: Look.\nAction 1: Lookup[director]\nObservation 1: Made by him.\n"
        "Correct answer: Ridley Scott"
    ),
}
KNOWAGENT = {
    "question": "Who directed Alien?",
    "answer": "Ridley Scott",
    "correct": False,
    "reward": 0.5,
    "halted": False,
    "error": False,
    "trajectory": (
        "Question: Who directed Alien?\n"
        "ActionPath 1: Start\nThought 1: Page.\nAction 1: Retrieve[Alien]\nObservation 1: A film.\n"
        "ActionPath 2: Start->Retrieve[Alien]\nThought 2: \nAction 2: Calculate[1+1]\n"
        "Observation 2: Invalid Action. Valid Actions are these.\n"
        "ActionPath 3: \nThought 3: \nAction 3: \nObservation 3: Invalid Action. Valid Actions are these.\n"
        "ActionPath 4: x\nThought 4: t\nAction 4: Lookup[x]\nObservation 4: The last page Retrieved was not found\n"
        "ActionPath 5: y\nThought 5: So.\nAction 5: Finish[Scott [director]]\nObservation 5: Answer is INCORRECT"
    ),
}
CUT = "Question: Who directed Alien?\nActionPath 1: Start\nThought 1: t\nAction 1: Search[a]\nObservation 1: nothing"
PLAIN = {
    "qid": "p1",
    "question": "Who directed Alien?",
    "answers": ["Scott"],
    "type": "simple",
    "passes": [
        {
            "answer": "Scott",
            "confidence": 0.5,
            "searches": ["Alien", "Scott"],
            "reasoning": ["first", "second"],
            "tokens": 7,
            "seconds": 1.5,
            "telemetry": {"perplexity": 2.0},
            "labels": {"em": 1},
        },
        {"answer": None},
        {"answer": "Cameron", "searches": [], "tokens": 0},
    ],
}
LINES = {
    "adarague": [ADARAGUE],
    "seakr": [SEAKR],
    "seakr-direct": [DIRECT],
    "react": [REACT, HALTED | {"trial": 2}],
    "knowagent": [
        KNOWAGENT,
        KNOWAGENT
        | {"question": "Who else?", "halted": True, "trajectory": CUT.replace("Who directed Alien?", "Who else?")},
    ],
    "jsonl": [PLAIN],
}
PASSES = {"adarague": 3, "seakr": 1, "seakr-direct": 1, "react": 2, "knowagent": 1, "jsonl": 3}


@pytest.fixture
def log(tmp_path):
    def log(form, *lines, passes=1, name="log.jsonl"):
        opener = {".gz": gzip.open, ".xz": lzma.open}.get(name[-3:], open)
        with opener(tmp_path / name, "wt", encoding="utf-8") as out:
            out.writelines((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
        return read_log(form, tmp_path / name, "mine", passes)

    return log


def test_every_format_has_a_sample():
    assert LINES.keys() == PASSES.keys() == FORMATS.keys()


@pytest.mark.parametrize("form", LINES)
def test_traces_keep_the_rules_and_hold_what_they_say_is_recorded(form, log, tmp_path):
    read = log(form, *LINES[form], passes=PASSES[form])
    files = [tmp_path / f"pass-{number}.jsonl" for number in range(1, PASSES[form] + 1)]
    for number, file in enumerate(files, start=1):
        write_jsonl(file, traces_of_pass(read, number))
    checked = check_traces(files)
    assert checked.violations == []
    traces = [trace for each in read for trace in each.traces]
    assert checked.traces == len(traces)
    assert {aspect for trace in traces for aspect in trace.recorded} == FORMATS[form].recorded
    assert all(trace.provenance is None and trace.system == "imported" for trace in traces)


@pytest.mark.parametrize("form", LINES)
def test_what_a_log_says_of_an_answer_is_in_no_trace(form, log):
    read = log(form, *LINES[form], passes=PASSES[form])
    assert any(each.verdicts for each in read)
    for each in read:
        for trace in each.traces:
            text = msgspec.json.encode(trace).decode()
            assert not any(word in text for word in ("CORRECT", "Correct", "Ridley", '"em"', "inacc", "reward"))


@pytest.mark.parametrize("name", ["log.jsonl", "log.jsonl.gz", "log.jsonl.xz"])
def test_packed_and_plain_files_are_the_same(name, log):
    assert log("adarague", ADARAGUE, name=name) == log("adarague", ADARAGUE)


def test_adarague_has_three_passes_and_keeps_its_labels_apart(log, tmp_path):
    (plain, stepped) = log("adarague", ADARAGUE, ADARAGUE | {"id": "a2", "ircot_steps": 4}, passes=3)
    assert plain.question.answers == ["Ridley Scott", "Scott"]
    assert [trace.answer for trace in plain.traces] == ["Scott", None, "James Cameron"]
    assert [trace.recorded for trace in plain.traces] == [["reasoning"], [], []]
    assert plain.traces[0].events[0].reasoning == ADARAGUE["closed_book_cot"]
    assert plain.traces[1].submissions[0].text is None and plain.traces[1].stop_reason == "accepted"
    assert [trace.telemetry for trace in stepped.traces] == [{}, {}, {"steps": 4.0}]
    assert plain.traces[2].telemetry == {}
    write_verdicts(tmp_path / "labels.csv", [plain])
    assert (tmp_path / "labels.csv").read_text().splitlines() == [
        "qid,pass,name,value",
        "a1,1,em,1.0",
        "a1,1,inacc,1.0",
        "a1,2,em,0.0",
        "a1,2,inacc,0.0",
        "a1,3,em,0.0",
        "a1,3,inacc,0.0",
    ]


@pytest.mark.parametrize(
    ("logged", "read"),
    [
        (r"Orl\u00e9ans", "Orléans"),
        (r"the \"Scat\"", 'the "Scat"'),
        (r"\ud83d\ude00", "\U0001f600"),
        (r"half \ud83d", r"half \ud83d"),
        (r"cut \u00", r"cut \u00"),
        ("end \\", "end \\"),
        (r"a\\b, c\/d", r"a\b, c/d"),
        (r"\alpha", r"\alpha"),
    ],
)
def test_adarague_escapes_are_read_where_they_are_whole(logged, read, log):
    fields = {"closed_book": logged, "single_retrieval": logged, "multi_retrieval": logged, "closed_book_cot": logged}
    (each,) = log("adarague", ADARAGUE | fields, passes=3)
    assert [trace.answer for trace in each.traces] == [read] * 3
    assert each.traces[0].events[0].reasoning == read


def test_fewer_passes_leave_out_traces_and_labels(log):
    (read,) = log("adarague", ADARAGUE, passes=2)
    assert [trace.pass_number for trace in read.traces] == [1, 2]
    assert {verdict.pass_number for verdict in read.verdicts} == {1, 2}


def test_more_passes_than_the_log_has_are_refused(log):
    with pytest.raises(
        InputError, match=r"no question has more than 3 passes \(wanted 4\); correct imports.mine.passes"
    ):
        log("adarague", ADARAGUE, passes=4)


def test_an_empty_log_is_refused(log):
    with pytest.raises(InputError, match="holds no question"):
        log("seakr")


def test_seakr_counts_are_telemetry(log):
    (read,) = log("seakr", SEAKR)
    (trace,) = read.traces
    assert trace.answer == "scott"
    assert trace.telemetry == {"eigen_score": -3.5, "retrievals": 2, "model_calls": 11, "answers_agree": 1}
    assert [event.text for event in trace.events] == ["the Scott", "scott", "scott"]
    (other,) = log("seakr", SEAKR | {"Final Read Answer": None})
    assert other.traces[0].telemetry["answers_agree"] == 0


def test_seakr_direct_scores_are_telemetry_and_a_blank_answer_is_a_refusal(log):
    (read,) = log("seakr-direct", DIRECT)
    (trace,) = read.traces
    assert trace.telemetry == {"perplexity": 1.5, "energy_score": 23.0, "ln_entropy": 0.5, "eigen_score": -1.0}
    assert trace.answer is None and trace.stop_reason == "accepted"


def test_a_trajectory_becomes_calls_with_the_thought_before_each(log):
    (read,) = log("react", REACT)
    (trace,) = read.traces
    thoughts = [event for event in trace.events if isinstance(event, ModelEvent)]
    assert [(event.turn, event.reasoning) for event in thoughts] == [
        (0, "I search\nAlien first."),
        (1, "Look."),
        (2, "Again."),
        (3, "Done."),
    ]
    assert [event.sent for event in thoughts][:2] == [["Who directed Alien?"], ["Alien is a film.\n\nIt is long."]]
    search, look, again, answer = (event for event in trace.events if not isinstance(event, ModelEvent))
    assert isinstance(search, SearchEvent) and (search.turn, search.query) == (1, "Alien")
    assert isinstance(look, ReadEvent) and (look.passage_id, look.question) == ("Alien", "director")
    assert look.sentences == ["(Result 1 / 1) Made by him."] and again.sentences == []
    assert isinstance(answer, AnswerEvent) and trace.answer == "Cameron"
    assert (trace.usage.searches, trace.usage.tool_calls, trace.usage.model_calls) == (1, 4, 4)
    assert read.verdicts == [(1, "correct", False)]


def test_a_halted_trial_has_no_answer(log):
    (read,) = log("react", HALTED)
    (trace,) = read.traces
    assert trace.answer is None and trace.submissions == [] and trace.stop_reason == "turn_limit"
    assert trace.status == "ok" and trace.events[-1].sentences == ["Made by him."]


def test_trials_are_passes(log):
    read = log("react", REACT, REACT | {"hotpot_id": "r2"}, REACT | {"trial": 2}, passes=2)
    assert [(each.question.qid, len(each.traces)) for each in read] == [("r1", 2), ("r2", 1)]


def test_knowagent_calls_that_are_refused_are_errors(log):
    (read,) = log("knowagent", KNOWAGENT)
    (trace,) = read.traces
    found, calculated, blank, refused, answer = (e for e in trace.events if not isinstance(e, ModelEvent))
    assert isinstance(found, EntitySearchEvent) and found.name == "Alien"
    assert isinstance(calculated, ErrorEvent) and calculated.call == "Calculate"
    assert isinstance(blank, ErrorEvent) and blank.call == ""
    assert isinstance(refused, ErrorEvent) and refused.call == "Lookup"
    assert trace.usage.rejected_calls == 3
    assert answer.text == trace.answer == "Scott [director]"
    assert read.question.answers == ["Ridley Scott"] and len(read.question.qid) == 16
    assert trace.events[0].text == "Start"


def test_a_failed_trajectory_is_an_error(log):
    (read,) = log("knowagent", KNOWAGENT | {"error": True, "trajectory": CUT})
    assert (read.traces[0].status, read.traces[0].stop_reason) == ("error", "error")
    assert read.traces[0].usage.rejected_calls == 0


def test_a_trajectory_without_end_has_no_answer(log):
    (read,) = log("knowagent", KNOWAGENT | {"trajectory": CUT})
    assert (read.traces[0].answer, read.traces[0].stop_reason, read.traces[0].status) == (None, "no_call", "ok")


def test_the_plain_format_records_what_is_given_and_nothing_else(log):
    (read,) = log("jsonl", PLAIN, passes=3)
    first, second, third = read.traces
    assert first.recorded == ["confidence", "reasoning", "searches", "seconds", "tokens"]
    assert (first.answer, first.confidence, first.submissions[0].confidence) == ("Scott", 0.5, 0.5)
    assert (first.usage.searches, first.usage.tokens, first.usage.seconds) == (2, 7, 1.5)
    assert first.telemetry == {"perplexity": 2.0}
    assert (second.answer, second.confidence, second.recorded) == (None, None, [])
    assert third.recorded == ["searches", "tokens"] and third.usage.searches == 0
    assert read.question.type == "simple"
    assert read.verdicts == [(1, "em", 1.0)]


PLAIN_PASSES = st.lists(
    st.fixed_dictionaries(
        {"answer": st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=9)},
        optional={
            "confidence": st.none() | st.floats(0, 1),
            "searches": st.none() | st.lists(st.just("q"), max_size=3),
            "reasoning": st.none() | st.lists(st.just("r"), max_size=3),
            "tokens": st.none() | st.integers(0, 99),
            "seconds": st.none() | st.floats(0, 9),
        },
    ),
    min_size=1,
    max_size=4,
)


@given(PLAIN_PASSES)
def test_whatever_a_plain_log_holds_its_traces_keep_the_rules(tmp_path_factory, passes):
    folder = tmp_path_factory.mktemp("plain")
    (folder / "log.jsonl").write_text(json.dumps(PLAIN | {"passes": passes}), encoding="utf-8")
    (read,) = read_log("jsonl", folder / "log.jsonl", "mine", len(passes))
    for trace in read.traces:
        write_jsonl(folder / f"{trace.pass_number}.jsonl", [trace])
    checked = check_traces([folder / f"{number}.jsonl" for number in range(1, len(passes) + 1)])
    assert (checked.violations, checked.traces) == ([], len(passes))
    for logged, trace in zip(passes, read.traces, strict=True):
        assert trace.answer == (logged["answer"] if (logged["answer"] or "").strip() else None)


BROKEN = {
    "unknown field": ("adarague", ADARAGUE | {"more": 1}, "unknown field `more` (allowed: id, dataset"),
    "unknown field, renamed": ("seakr", SEAKR | {"more": 1}, "(allowed: qid, question, Retrieval Times"),
    "wrong type": ("adarague", ADARAGUE | {"closed_book_em": "yes"}, "closed_book_em: Expected `bool`, got `str`"),
    "missing field": ("seakr", {k: v for k, v in SEAKR.items() if k != "em"}, "missing required field `em`"),
    "no gold answer": ("adarague", ADARAGUE | {"gold": []}, "answers: must hold an answer"),
    "blank gold answer": ("seakr", SEAKR | {"ground_truth": " "}, "an answer must not be blank"),
    "blank question": ("seakr-direct", DIRECT | {"question": " "}, "text: must not be blank"),
    "unfit id": ("seakr-direct", DIRECT | {"id": "a b"}, "id: must hold no whitespace"),
    "negative count": ("seakr", SEAKR | {"Call LLM Times": -1}, "Call LLM Times: must be 0 or more (got -1)"),
    "no JSON": ("jsonl", "{", "not a line of JSON"),
    "other question": ("react", REACT | {"question": "Who?"}, "trajectory: must begin with 'Question: '"),
    "other prediction": ("react", REACT | {"pred": "Scott"}, "does not fit pred: 'Scott' there, and 'Cameron' here"),
    "other steps": ("react", REACT | {"n_steps": 5}, "does not fit n_steps: 5 there, and 4 here"),
    "other queries": ("react", REACT | {"search_queries": []}, "does not fit search_queries"),
    "other lookups": ("react", REACT | {"lookups": []}, "does not fit lookups"),
    "unknown status": ("react", REACT | {"status": "fine"}, "status: Invalid enum value 'fine'"),
    "later trial": ("react", REACT | {"trial": 2}, "trial: must be 1, the next of r1 (got 2)"),
    "label out of turn": (
        "knowagent",
        KNOWAGENT | {"trajectory": CUT.replace("Thought 1", "Thought 2")},
        "'Thought 1' must come next (got 'Thought 2')",
    ),
    "half a step": (
        "knowagent",
        KNOWAGENT | {"trajectory": CUT.partition("\nObservation")[0]},
        "must hold whole steps of ActionPath, Thought, Action, Observation (ends in 3 of them)",
    ),
    "no step": ("knowagent", KNOWAGENT | {"trajectory": "Question: Who directed Alien?"}, "must hold whole steps"),
    "steps after the end": (
        "knowagent",
        KNOWAGENT | {"trajectory": CUT.replace("Search[a]", "Finish[a]") + CUT.partition("?")[2].replace(" 1:", " 2:")},
        "Action 1 finishes, and steps follow",
    ),
    "halted with an answer": (
        "knowagent",
        KNOWAGENT | {"halted": True},
        "ends with an answer, although halted is true",
    ),
    "failed with an answer": ("knowagent", KNOWAGENT | {"error": True}, "ends with an answer, although error is true"),
    "no pass": ("jsonl", PLAIN | {"passes": []}, "passes: Expected `array` of length >= 1"),
    "confidence above 1": (
        "jsonl",
        PLAIN | {"passes": [{"answer": "a", "confidence": 2}]},
        "passes[0].confidence: Expected `float` <= 1.0",
    ),
    "unfit name": ("jsonl", PLAIN | {"passes": [{"answer": "a", "telemetry": {"a b": 1}}]}, "matching regex"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_what_breaks_a_format_is_refused_with_file_and_line(case, log):
    form, line, problem = BROKEN[case]
    good = {
        "adarague": ADARAGUE | {"id": "good"},
        "seakr": SEAKR | {"qid": "good"},
        "seakr-direct": DIRECT | {"id": "good"},
        "react": REACT | {"hotpot_id": "good"},
        "knowagent": KNOWAGENT | {"question": "Another?", "trajectory": CUT.replace("Who directed Alien?", "Another?")},
        "jsonl": PLAIN | {"qid": "good"},
    }[form]
    with pytest.raises(InputError) as raised:
        log(form, good, line)
    assert "log.jsonl:2: " in str(raised.value)
    assert problem in str(raised.value)


@pytest.mark.parametrize("form", ["adarague", "seakr", "seakr-direct", "knowagent", "jsonl"])
def test_a_question_that_comes_twice_is_refused(form, log):
    line = LINES[form][0]
    with pytest.raises(InputError, match=r"log.jsonl:2: .*is used twice, first on line 1"):
        log(form, line, line)


def test_trials_of_one_question_must_agree_on_it(log):
    with pytest.raises(InputError, match=r"log.jsonl:2: question: question r1 has another text or gold answer before"):
        log("react", REACT, REACT | {"trial": 2, "gold": "Ridley"})
    with pytest.raises(InputError, match=r"log.jsonl:2: trial: must be 2, the next of r1 \(got 1\)"):
        log("react", REACT, REACT)


def test_a_file_that_is_cut_off_is_refused(tmp_path):
    whole = lzma.compress("".join(json.dumps(SEAKR | {"qid": f"q{i}"}) + "\n" for i in range(99)).encode())
    (tmp_path / "log.jsonl.xz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match="cut off or damaged"):
        read_log("seakr", tmp_path / "log.jsonl.xz", "mine", 1)
    with pytest.raises(InputError, match="no such file"):
        read_log("seakr", tmp_path / "none.jsonl", "mine", 1)
