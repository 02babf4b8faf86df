"""The logs that ship: counts, what their makers say of the answers, and what the documentation says of them."""

import hashlib
import json
import lzma
import re
from collections import Counter
from pathlib import Path

import pytest
import yaml

from calibrag.evaluation.answers import exact_match
from calibrag.execution.imported import FORMATS
from calibrag.execution.imported.reading import read_log, traces_of_pass
from calibrag.execution.trace_validation import check_traces
from calibrag.records import write_jsonl

ROOT = Path(__file__).parents[3]
SHIPPED = ROOT / "workflow" / "resources" / "imports"
IMPORTS = yaml.safe_load((ROOT / "config.yaml").read_text())["imports"]
RIGHT = {
    "adarague-hotpotqa": [280, 378, 419],
    "adarague-2wikimultihopqa": [310, 316, 394],
    "adarague-triviaqa": [621, 571, 578],
    "seakr-hotpotqa": [200],
    "seakr-triviaqa": [287],
    "react-hotpotqa": [20],
    "knowagent-hotpotqa": [85],
}
KINDS = ("closed_book", "single_retrieval", "multi_retrieval")
QUESTIONS = {
    "adarague-hotpotqa": 1000,
    "adarague-2wikimultihopqa": 1000,
    "adarague-triviaqa": 1000,
    "seakr-hotpotqa": 500,
    "seakr-triviaqa": 500,
    "react-hotpotqa": 62,
    "knowagent-hotpotqa": 319,
}
# answers that the log calls wrong for the escapes in which it wrote them
ESCAPED = {
    "adarague-hotpotqa": [2, 5, 5],
    "adarague-2wikimultihopqa": [26, 25, 32],
    "adarague-triviaqa": [9, 9, 10],
}
HALTED = {"react-hotpotqa": 7, "knowagent-hotpotqa": 3}


def read(name, passes=None):
    block = IMPORTS[name]
    return read_log(block["format"], ROOT / block["path"], name, passes or block["passes"])


@pytest.fixture(scope="module", params=IMPORTS)
def name(request):
    return request.param


@pytest.fixture(scope="module")
def log(name):
    return read(name)


def test_each_log_has_its_questions_with_all_passes(name, log):
    assert len(log) == QUESTIONS[name]
    assert {len(each.traces) for each in log} == {IMPORTS[name]["passes"]}


def test_traces_keep_the_rules(name, log, tmp_path):
    files = [tmp_path / f"{number}.jsonl" for number in range(1, IMPORTS[name]["passes"] + 1)]
    for number, file in enumerate(files, start=1):
        write_jsonl(file, traces_of_pass(log, number))
    assert check_traces(files).violations == []


def test_exact_match_is_what_the_log_says_answer_by_answer_but_for_escapes(name, log):
    right, escaped = Counter(), Counter()
    raw = (ROOT / IMPORTS[name]["path"]).read_bytes()
    lines = [json.loads(line) for line in lzma.decompress(raw).decode().splitlines()]
    said = {line["id"]: [line[kind] for kind in KINDS] for line in lines} if name in ESCAPED else {}
    for each in log:
        for trace in each.traces:
            number = trace.pass_number
            theirs = next(v.value for v in each.verdicts if v.pass_number == number and v.name in ("em", "correct"))
            ours = exact_match(trace.answer, each.question.answers)
            right[number] += ours
            if ours != theirs:
                assert ours and "\\u" in said[each.question.qid][number - 1]
                escaped[number] += 1
    assert [right[number] for number in sorted(right)] == RIGHT[name]
    assert [escaped[number] for number in sorted(escaped)] == ESCAPED.get(name, [])


def test_only_halted_passes_have_no_answer(name, log):
    unanswered = [trace for each in log for trace in each.traces if trace.answer is None]
    assert len(unanswered) == HALTED.get(name, 0)
    assert {trace.stop_reason for trace in unanswered} <= {"turn_limit"}


def test_trials_of_reflexion_differ_only_where_the_first_was_wrong():
    differ = Counter()
    for each in read("react-hotpotqa", passes=5):
        right = next(verdict.value for verdict in each.verdicts if verdict.pass_number == 1)
        differ[right] += any(trace.events != each.traces[0].events for trace in each.traces)
    assert differ == {True: 0, False: 17}


def test_the_readme_and_the_notice_state_what_ships(name, log):
    readme = (SHIPPED / "README.md").read_text()
    line = next(line for line in readme.splitlines() if line.startswith(f"| `{name}`"))
    shares = ", ".join(f"{count / len(log):.3f}".removeprefix("0") for count in RIGHT[name])
    assert f"| {len(log):,} | {IMPORTS[name]['passes']} | {shares} |" in line
    path = ROOT / IMPORTS[name]["path"]
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert f"{path.relative_to(SHIPPED)}    sha256 {digest}" in (SHIPPED / "NOTICE").read_text()


def test_the_example_of_the_readme_is_a_log(tmp_path):
    readme = (SHIPPED / "README.md").read_text()
    (example,) = re.findall(r"```json\n(.*?)```", readme, re.DOTALL)
    (tmp_path / "log.jsonl").write_text(json.dumps(json.loads(example)))
    (each,) = read_log("jsonl", tmp_path / "log.jsonl", "mine", 2)
    assert [trace.answer for trace in each.traces] == ["Ridley Scott", None]
    assert set(each.traces[0].recorded) == FORMATS["jsonl"].recorded and each.verdicts == [(1, "em", 1.0)]


def test_the_readme_describes_every_format():
    readme = (SHIPPED / "README.md").read_text()
    for name in FORMATS:
        assert f"**`{name}`**" in readme or name == "jsonl"
    schema = yaml.safe_load((ROOT / "workflow" / "schemas" / "config.schema.yaml").read_text())
    assert schema["$defs"]["imported"]["properties"]["format"]["enum"] == list(FORMATS)


def test_every_file_is_named_in_the_notice():
    files = {str(path.relative_to(SHIPPED)) for path in SHIPPED.glob("*/*")}
    assert files == set(re.findall(r"^(\S+)    sha256", (SHIPPED / "NOTICE").read_text(), re.MULTILINE))
    assert len(files) == 7


def test_questions_of_seakr_are_among_those_of_adarague():
    for seakr, adarague in (("seakr-hotpotqa", "adarague-hotpotqa"), ("seakr-triviaqa", "adarague-triviaqa")):
        assert {each.question.qid for each in read(seakr)} <= {each.question.qid for each in read(adarague)}
