"""Fielded BM25F by Terrier, an optional engine: it wants Java and Terrier's jars, which PyTerrier fetches from Maven.

BM25F sums a term's frequencies over the fields, each weighted and normalised by its own length, before they saturate
(Zaragoza et al., TREC 2004); the default engine adds up BM25 scores of the fields. Nobody has run this module where its
jars were to be had: the tests cover what it says when they are not.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pyterrier as pt

from calibrag.errors import MissingModelError
from calibrag.records import Annotation, Passage
from calibrag.retrieval import frames
from calibrag.retrieval.passage_ids import read_ids, write_ids
from calibrag.retrieval.sparse import FIELDS, NAME_FIELDS

_IDS = "ids.txt"
_LONGEST_ID = 200  # characters; Terrier keeps ids in columns of fixed width


def build(passages: Iterable[tuple[Passage, Sequence[Annotation]]], path: str | Path) -> int:
    """Write the index of passages, each with its annotations, into the folder ``path``; return how many it holds."""
    _start()
    path = Path(path)
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    ids: list[str] = []

    def rows():
        for passage, names in passages:
            ids.append(passage.passage_id)
            fields = {"text": passage.text, "title": passage.title, "heading": passage.heading or ""}
            for origin, field in NAME_FIELDS.items():
                fields[field] = " . ".join(a.name for a in names if a.origin == origin)
            yield {"docno": passage.passage_id, **fields}

    indexer = pt.IterDictIndexer(str(path.resolve()), meta={"docno": _LONGEST_ID}, text_attrs=list(FIELDS), fields=True)
    indexer.index(rows())
    write_ids(path / _IDS, ids)
    return len(ids)


class TerrierRetriever(pt.Transformer):
    """BM25F over an index that `build` wrote; the same frames as ``sparse.SparseRetriever``.

    The text of a query is data: it is analysed into terms, so that no character in it has a meaning.

    Raises
    ------
    MissingModelError
        Java or Terrier's jars are not there.
    """

    def __init__(self, path: str | Path, boosts: Mapping[str, float], depth: int):
        _start()
        self.depth = depth
        self.ids = read_ids(Path(path) / _IDS)
        self._index = pt.IndexFactory.of(str(Path(path).resolve()))
        self._controls = {f"w.{number}": str(boosts[field]) for number, field in enumerate(FIELDS)}
        self._controls |= {f"c.{number}": "0.75" for number in range(len(FIELDS))}

    def __len__(self) -> int:
        return len(self.ids)

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        """Return the ranking of each query."""
        pt.validate.query_frame(inp, extra_columns=["query"], context=self)
        found = [self._search(text, out) for text, out in zip(inp["query"], frames.exclusions(inp), strict=True)]
        return frames.results(inp, found)

    def _search(self, text: str, excluded: frozenset[str]) -> tuple[list[str], list[float]]:
        # with as many more results as there are passages to leave out, leaving them out afterwards loses nothing
        count = self.depth + len(excluded)
        bm25f = pt.terrier.Retriever(self._index, wmodel="BM25F", num_results=count, controls=self._controls)
        tokens = pt.terrier.rewrite.tokenise().transform(pd.DataFrame({"qid": ["1"], "query": [text]}))
        if not tokens["query"].iloc[0].strip():
            return [], []
        ranking = bm25f.transform(tokens)
        ranking = ranking[~ranking["docno"].isin(excluded)]
        ids, scores = ranking["docno"].tolist(), ranking["score"].to_numpy(dtype=np.float64)
        best = frames.order(ids, scores, self.depth)
        return [ids[i] for i in best], [float(scores[i]) for i in best]


def _start() -> None:
    """Start Java with Terrier, or raise MissingModelError with the way out."""
    try:
        pt.java.init()
    except Exception as error:  # whatever is missing, PyTerrier raises another kind of error
        raise MissingModelError(
            f"retrievers.lexical.engine: terrier wants Java and Terrier's jars ({error}); install a Java runtime, run"
            " once with a network so that PyTerrier fetches the jars, or set the engine to tantivy"
        ) from error
