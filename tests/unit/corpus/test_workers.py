"""Work in several processes: the same results in the same order, and one clear error."""

import multiprocessing
import os
import signal
import time

import pytest

from calibrag.corpus.batching import batched, batched_by_weight
from calibrag.corpus.chunking import chunk_all
from calibrag.corpus.store import write_passages
from calibrag.corpus.workers import in_order
from calibrag.errors import CalibragError, ConfigError
from calibrag.records import Document, Section, TextBlock


def square(number):
    # the first of them finish last
    time.sleep(0.002 * (number % 3 == 0))
    return number * number


def run(work, numbers, workers, size=3):
    return list(in_order(work, batched(numbers, size), workers, "number {}".format))


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("count", [0, 1, 2, 50])
def test_results_come_in_order_whatever_the_number_of_workers(workers, count):
    assert run(square, range(count), workers) == [number * number for number in range(count)]


def invert(number):
    return 60 / (number - 20)


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_a_failure_names_the_entry_and_leaves_no_process(workers, capfd):
    with pytest.raises(CalibragError, match=r"^number 20: the work on it failed \(ZeroDivisionError\(.*lines above"):
        run(invert, range(60), workers)
    assert "return 60 / (number - 20)" in capfd.readouterr().err
    assert multiprocessing.active_children() == []


def die(number):
    if number == 20:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


@pytest.mark.parametrize("workers", [2, 3])
def test_a_killed_process_is_an_error_that_names_what_it_was_at(workers):
    with pytest.raises(CalibragError, match=r"^number 20: .* stopped from outside \(Killed\), .* fewer threads$"):
        run(die, range(60), workers)
    assert multiprocessing.active_children() == []


def test_no_more_is_read_than_the_processes_hold():
    read = []

    def numbers():
        for number in range(1000):
            read.append(number)
            yield [number]

    results = in_order(square, numbers(), 2, str)
    assert [next(results) for _ in range(3)] == [0, 1, 4]
    assert len(read) <= 5
    results.close()
    assert multiprocessing.active_children() == []


def work_and_wait(path):
    """A job that says which processes work for it, and then lives on."""
    results = in_order(square, ([number] for number in range(1000)), 2, str)
    next(results)
    path.write_text(" ".join(str(process.pid) for process in multiprocessing.active_children()))
    time.sleep(60)


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_the_processes_of_a_killed_job_end_with_it(tmp_path):
    job = multiprocessing.get_context("fork").Process(target=work_and_wait, args=(tmp_path / "pids",))
    job.start()
    until = time.monotonic() + 20
    while not (tmp_path / "pids").exists() or not (tmp_path / "pids").read_text():
        assert time.monotonic() < until
        time.sleep(0.01)
    pids = (tmp_path / "pids").read_text().split()
    assert len(pids) == 2
    job.kill()
    job.join()
    while any(map(alive, pids)):
        assert time.monotonic() < until
        time.sleep(0.01)


def documents(count=1200):
    for number in range(count):
        text = " ".join(f"Sentence {n} of document {number}, by Mr. {number % 7} Smith." for n in range(number % 60))
        yield Document(doc_id=f"d{number}", title="Title", sections=[Section(blocks=[TextBlock(text=text)])])


def test_the_files_are_the_same_bytes_for_1_2_and_3_workers(tmp_path):
    for workers in (1, 2, 3):
        passages = chunk_all(documents(), 200, 300, workers)
        write_passages(tmp_path / f"{workers}.parquet", passages, tmp_path / f"{workers}.arrow")
    for kind in ("parquet", "arrow"):
        first, second, third = ((tmp_path / f"{workers}.{kind}").read_bytes() for workers in (1, 2, 3))
        assert first == second == third


def test_a_wrong_length_is_refused_before_any_work():
    with pytest.raises(ConfigError, match="target_words"):
        chunk_all(documents(), 0, 300, 2)


def test_an_error_in_a_document_names_it():
    broken = Document(doc_id="d7", title="T", sections=[Section(heading=7, blocks=[])])
    with pytest.raises(CalibragError, match="^document d7: the work on it failed"):
        list(chunk_all([*documents(7), broken], 200, 300, 2))


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        ([1, 1, 1, 1, 1], [[1, 1, 1], [1, 1]]),  # by number
        ([4, 6, 1], [[4, 6], [1]]),  # by weight: the entry that reaches it is the last
        ([50, 1, 50], [[50], [1, 50]]),  # a heavy entry alone
        ([], []),
    ],
)
def test_batches_end_by_number_or_weight(weights, expected):
    assert list(batched_by_weight(weights, 3, lambda weight: weight, 10)) == expected
