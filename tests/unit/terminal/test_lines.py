"""The terminal's lines: one a job, with what is done and what is left."""

import logging
from types import SimpleNamespace

import pytest
from snakemake_interface_logger_plugins.common import LogEvent

from snakemake_logger_plugin_calibrag import LogHandler
from snakemake_logger_plugin_calibrag.timing import Timing, duration, seconds_by_rule


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def timing(tmp_path, clock):
    timing = Timing(tmp_path, clock)
    timing._earlier = {"embed_passages": 60.0, "read_documents": 2.0}
    return timing


@pytest.fixture
def handler(timing):
    handler = LogHandler(SimpleNamespace(stdout=False), None)
    handler.timing = timing
    return handler


def record(event, message="", level=logging.INFO, **fields):
    made = logging.LogRecord("snakemake", level, "", 0, message, None, None)
    if event is not None:
        made.event = event
    vars(made).update(fields)
    return made


def start(handler, jobid, rule, stage, **wildcards):
    log = [f"results/logs/{stage}/{rule}/x.log"]
    return handler.line(record(LogEvent.JOB_INFO, jobid=jobid, rule_name=rule, log=log, wildcards=wildcards))


def test_a_run_is_announced_counted_and_timed(handler, clock):
    stats = {"read_documents": 1, "embed_passages": 2, "all": 1, "total": 4}
    announced = handler.line(record(LogEvent.RUN_INFO, stats=stats))
    assert announced == "4 jobs, about 2:02 min: read_documents, embed_passages x2, all"
    assert start(handler, 7, "read_documents", "collections", collection="film") == (
        "    start  collections  read_documents film"
    )
    clock.now = 4.0
    assert handler.line(record(LogEvent.JOB_FINISHED, job_id=7)) == (
        "      1/4  collections  read_documents film  4 s, about 2:00 min left"
    )


def test_running_jobs_count_for_what_they_have_done(handler, clock):
    handler.line(record(LogEvent.RUN_INFO, stats={"embed_passages": 1, "total": 1}))
    start(handler, 1, "embed_passages", "retrieval")
    clock.now = 45.0
    assert handler.timing.left() == pytest.approx(15)


def test_jobs_side_by_side_shorten_what_is_left(handler, clock):
    handler.line(record(LogEvent.RUN_INFO, stats={"embed_passages": 4, "total": 4}))
    for jobid in (1, 2):
        start(handler, jobid, "embed_passages", "retrieval")
    clock.now = 60.0
    for jobid in (1, 2):
        handler.line(record(LogEvent.JOB_FINISHED, job_id=jobid))
    assert handler.timing.left() == pytest.approx(60)


def test_what_this_run_took_counts_more_than_what_an_earlier_one_took(handler, clock):
    handler.line(record(LogEvent.RUN_INFO, stats={"embed_passages": 2, "total": 2}))
    start(handler, 1, "embed_passages", "retrieval")
    clock.now = 10.0
    handler.line(record(LogEvent.JOB_FINISHED, job_id=1))
    assert handler.timing.left() == pytest.approx(10)


def test_no_time_is_promised_while_a_rule_is_unknown(handler):
    assert handler.line(record(LogEvent.RUN_INFO, stats={"new_rule": 1, "total": 1})) == "1 jobs: new_rule"


def test_a_failed_job_shows_its_log_once(handler, tmp_path):
    log = tmp_path / "film.log"
    log.write_text("InputError: documents.jsonl:3: title: must not be blank\n")
    failed = record(LogEvent.JOB_ERROR, level=logging.ERROR, jobid=3, rule_name="read_documents", log=[str(log)])
    shown = handler.line(failed)
    assert "FAILED  read_documents" in shown
    assert "| InputError: documents.jsonl:3: title: must not be blank" in shown
    assert handler.line(failed) is None


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("Building DAG of jobs...", None),
        ("RuleException:\nCalledProcessError in file x", None),
        ("Nothing to be done (all requested files are present and up to date).", "Nothing to be done (all requested"),
        ("ConfigError in file Snakefile, line 40:\nconfig.yaml: x: unknown key", "ConfigError in file"),
    ],
)
def test_messages_that_say_something_are_passed_on(handler, message, shown):
    line = handler.line(record(None, message))
    assert line is None if shown is None else line.startswith(shown)


def test_benchmarks_are_read_by_rule(tmp_path):
    for name, seconds in (
        ("corpus/chunk_documents/film.tsv", 2),
        ("corpus/chunk_documents/b/c.tsv", 4),
        ("models/x.tsv", 1),
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"s\th:m:s\n{seconds}\t0:00:01\n")
    assert seconds_by_rule(tmp_path) == {"chunk_documents": 3, "x": 1}


@pytest.mark.parametrize(("seconds", "text"), [(3.4, "3 s"), (65, "1:05 min"), (7500, "2:05 h")])
def test_durations(seconds, text):
    assert duration(seconds) == text
