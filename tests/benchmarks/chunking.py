"""Passages and megabytes chunked a second, and memory, against a plain NLTK loop and semchunk.

    python tests/benchmarks/chunking.py [--times 1 10] [--workers 1 2] [--scale FOLDER]

The documents are held in memory and repeated with other ids, so that reading them costs nothing; each measurement runs
in a process of its own. ``written`` also writes the two files, as the rule does. ``nltk`` is NLTK's Punkt with the same
English model and greedy packing to 200 words, ``semchunk`` cuts into at most 200 words where it sees fit, both block by
block; neither keeps offsets, headings or ids, so both do less. They run once over the documents: what they cost does
not depend on how many there are. Compare speeds at 1 time: copies are faster, since their sentences end as before.

``growth`` is memory above that of the documents in MB: the peak of this process and of its workers.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec
from passages import CHUNKING, documents

from calibrag.corpus.chunking import chunk_all, render_row
from calibrag.corpus.store import write_passages
from calibrag.records import Document, Passage, TableBlock

COLUMNS = ["method", "workers", "times", "documents", "passages", "MB", "seconds", "passages/s", "MB/s", "growth"]

Tally = Callable[[str], None]


def ours(given: Iterable[Document], workers: int, tally: Tally) -> None:
    """Chunk as the workflow does."""
    for passage in chunk_all(given, **CHUNKING, workers=workers):
        tally(passage.text)


def written(given: Iterable[Document], workers: int, tally: Tally) -> None:
    """Chunk and write as the workflow does."""

    def seen() -> Iterator[Passage]:
        for passage in chunk_all(given, **CHUNKING, workers=workers):
            tally(passage.text)
            yield passage

    with tempfile.TemporaryDirectory() as folder:
        write_passages(Path(folder) / "passages.parquet", seen(), Path(folder) / "passages.arrow")


def nltk(given: Iterable[Document], workers: int, tally: Tally) -> None:
    """Chunk with the loop that everybody writes first."""
    import punkt
    from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer

    # NLTK's own data is a download; the package holds the same English model in another format
    model, parameters = punkt.load_model("english"), PunktParameters()
    parameters.abbrev_types, parameters.collocations = model.abbrev_types, model.collocations
    parameters.sent_starters = model.sent_starters
    parameters.ortho_context.update({word: int(context) for word, context in model.ortho_context.items()})
    tokenizer = PunktSentenceTokenizer(parameters)
    for text in _blocks(given):
        packed: list[str] = []
        words = 0
        for sentence in tokenizer.tokenize(text):
            length = len(sentence.split())
            if packed and words + length > CHUNKING["target_words"]:
                tally(" ".join(packed))
                packed, words = [], 0
            packed.append(sentence)
            words += length
        tally(" ".join(packed))


def semchunk(given: Iterable[Document], workers: int, tally: Tally) -> None:
    """Chunk with the library."""
    from semchunk import chunkerify

    chunker = chunkerify(lambda text: len(text.split()), CHUNKING["target_words"])
    for text in _blocks(given):
        for piece in chunker(text):
            tally(piece)


def _blocks(given: Iterable[Document]) -> Iterator[str]:
    for document in given:
        for section in document.sections:
            for block in section.blocks:
                table = isinstance(block, TableBlock)
                yield "\n".join(map(render_row, [block.header, *block.rows])) if table else block.text


METHODS = {method.__name__: method for method in (ours, written, nltk, semchunk)}


def measure(method: str, workers: int, times: int, scale: Path | None) -> dict[str, str | float]:
    """Return one row of the table; called in a process of its own."""
    real = list(documents(scale))
    passages = size = 0

    def tally(text: str) -> None:
        nonlocal passages, size
        passages += 1
        size += len(text.encode())

    copies = (msgspec.structs.replace(d, doc_id=f"{d.doc_id}~{copy}") for copy in range(times) for d in real)
    before = _peak(resource.RUSAGE_SELF)
    started = time.perf_counter()
    METHODS[method](copies, workers, tally)
    seconds = time.perf_counter() - started
    # of its children the system tells the largest one; what a worker shares with this process is in `before`
    growth = _peak(resource.RUSAGE_SELF) - before
    growth += workers * max(0.0, _peak(resource.RUSAGE_CHILDREN) - before) if workers > 1 else 0
    row = [method, workers, times, times * len(real), passages, round(size / 1e6, 1), round(seconds, 2)]
    row += [round(passages / seconds), round(size / 1e6 / seconds, 2), round(growth)]
    return dict(zip(COLUMNS, row, strict=True))


def _peak(of: int) -> float:
    """Return the largest resident size so far, MB."""
    return resource.getrusage(of).ru_maxrss / 1024


def main() -> None:
    """Print a table, in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, nargs="+", default=[1, 10], help="copies of the documents")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2], help="processes of the workflow's chunking")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--scale", type=Path, help="folder with the release of OTT-QA, instead of what is shipped")
    parser.add_argument("--row", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.row:
        method, workers, times = arguments.row.split(",")
        print(json.dumps(measure(method, int(workers), int(times), arguments.scale)))
        return
    print(f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}")
    for method in arguments.methods:
        own = METHODS[method] in (ours, written)
        for workers in arguments.workers if own else [1]:
            for times in arguments.times if own else [1]:
                command = [sys.executable, __file__, "--row", f"{method},{workers},{times}"]
                command += ["--scale", str(arguments.scale)] if arguments.scale else []
                done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
                name, *numbers = json.loads(done.stdout).values()
                print("|", " | ".join([name, *(f"{number:,}" for number in numbers)]), "|", flush=True)


if __name__ == "__main__":
    main()
