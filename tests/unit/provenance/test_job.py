"""What a job says while it works, and where it fails."""

import io
import subprocess
import sys
from pathlib import Path

import pytest

from calibrag import job
from calibrag.errors import CalibragError

SOURCE = str(Path(job.__file__).parents[1])


def run(tmp_path, body):
    """Run a script's body under ``logged`` in a process of its own; return its exit code, terminal and log."""
    log = tmp_path / "results" / "logs" / "corpus" / "chunk_documents" / "film.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    script = f"import sys, os\nsys.path.insert(0, {SOURCE!r})\nfrom calibrag.job import logged\n"
    script += "from calibrag.errors import InputError\n"
    script += f"with logged({str(log)!r}) as job:\n    {body}\n"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr, log.read_text()


def test_everything_printed_goes_to_the_log_native_output_included(tmp_path):
    code, terminal, log = run(tmp_path, "print('a'); os.write(2, b'native\\n'); job.info('3 passages')")
    assert (code, terminal) == (0, "")
    assert "native" in log
    assert "3 passages" in log
    assert log.rstrip().endswith("done")


def test_an_error_raised_on_purpose_leaves_its_message_alone(tmp_path):
    code, _, log = run(tmp_path, "raise InputError('questions.jsonl', 'must not be blank', 3, 'text')")
    assert (code, log) == (1, "InputError: questions.jsonl:3: text: must not be blank\n")


def test_another_error_keeps_its_traceback(tmp_path):
    code, _, log = run(tmp_path, "1 / 0")
    assert code == 1
    assert "Traceback" in log
    assert "ZeroDivisionError" in log


def test_a_full_disk_is_told_in_one_line(tmp_path):
    code, _, log = run(tmp_path, "import errno; raise OSError(errno.ENOSPC, 'No space left on device')")
    assert code == 1
    assert log.startswith("CalibragError: no room left") and len(log.splitlines()) == 1


def test_what_the_log_has_no_room_for_reaches_the_terminal(tmp_path):
    (tmp_path / "results/logs/corpus/chunk_documents").mkdir(parents=True)
    (tmp_path / "results/logs/corpus/chunk_documents/film.log").symlink_to("/dev/full")
    script = f"import sys\nsys.path.insert(0, {SOURCE!r})\nfrom calibrag.job import logged\n"
    script += "from calibrag.errors import InputError\n"
    script += f"with logged({str(tmp_path / 'results/logs/corpus/chunk_documents/film.log')!r}):\n"
    script += "    raise InputError('questions.jsonl', 'must not be blank', 3)\n"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode != 0
    assert done.stderr.startswith("InputError: questions.jsonl:3: must not be blank\n")


def test_progress_reaches_terminal_and_log_under_the_job_s_name(tmp_path):
    _, terminal, log = run(tmp_path, "job.every = 0; list(job.progress(range(3), 'passages', 3))")
    assert terminal.splitlines()[-1].startswith("  chunk_documents film: 3 of 3 passages, ")
    assert "3 of 3 passages" in log


@pytest.fixture
def clock():
    """A clock that a test moves by hand."""

    class Clock:
        now = 0.0

        def __call__(self):
            return self.now

    return Clock()


def test_progress_says_how_many_how_fast_and_how_long(clock):
    log, terminal = io.StringIO(), io.StringIO()
    running = job.Job("embed_passages film", log, terminal, every=10, clock=clock)
    for _ in running.progress(range(1200), "passages", 1200):
        clock.now += 0.125
    lines = terminal.getvalue().splitlines()
    assert lines[0] == "  embed_passages film: 80 of 1,200 passages, 8.0 passages a second, 2:20 left"
    assert len(lines) == 15


def test_slow_items_are_timed_each_and_an_unknown_total_is_left_out(clock):
    terminal = io.StringIO()
    running = job.Job("run_pass", io.StringIO(), terminal, every=10, clock=clock)
    count = running.counter("questions")
    for _ in range(2):
        clock.now += 8
        count(None)
    assert terminal.getvalue() == "  run_pass: 2 questions, 8.0 s each\n"


def test_the_last_lines_say_what_lies_where(tmp_path):
    for name in (
        "tables/main/retrieval.md",
        "figures/main/accuracy_hmr.svg",
        "run_config.yaml",
        "film/bitem/pages/index.html",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    lines = job.where_results_lie(tmp_path)
    assert f"tables   {tmp_path}/tables/main/: 1" in lines
    assert f"figures  {tmp_path}/figures/main/: 1" in lines
    assert f"traces   {tmp_path}/film/bitem/pages/index.html" in lines
    assert "report.html" not in lines


def test_the_last_lines_of_a_failed_run_name_the_logs_of_its_jobs(tmp_path):
    log = tmp_path / "snakemake.log"
    log.write_text("Error in rule x:\n    log: results/logs/a.log (check log file(s) for error details)\n")
    assert job.where_errors_lie(log).endswith("\n  results/logs/a.log")


def test_a_results_folder_that_cannot_be_written_is_refused_with_a_way_out(tmp_path, monkeypatch):
    job.check_writable(tmp_path / "results")
    (tmp_path / "results").touch()
    with pytest.raises(CalibragError, match="must be a folder"):
        job.check_writable(tmp_path / "results")
    # root may write anywhere, so that the answer of the system is put in its mouth
    monkeypatch.setattr(job.os, "access", lambda path, mode: False)
    with pytest.raises(CalibragError, match=f"{tmp_path}: this user must not write there; make it writable"):
        job.check_writable(tmp_path / "other")
