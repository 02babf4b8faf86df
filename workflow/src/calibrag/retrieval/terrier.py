"""The optional engine: BM25F over the fields of passages, kept by Terrier.

It wants PyTerrier's extra ``java`` (``pip install "pyterrier[java]"``), Java 11 or newer, and Terrier's jars, which
PyTerrier fetches from Maven Central when it first starts Java. None of that is among calibrag's requirements, and
where this module was written the jars could not be had: beyond its errors it has not been run.

BM25F sums a term's weighted, length-normalised frequencies over the fields before it saturates them (Robertson,
Zaragoza & Taylor 2004), where the engine ``tantivy`` adds up one BM25 score a field.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pandas as pd
import pyterrier as pt

from calibrag.corpus.passage_ids import digest, read_ids, write_ids
from calibrag.errors import MissingModelError
from calibrag.retrieval import frames
from calibrag.retrieval.index_folder import IndexFolder
from calibrag.retrieval.named import NamedPassage
from calibrag.retrieval.sparse import FIELDS, NAME_FIELDS

FORMAT = 1
"""Version of the index folder; raised when its files change their meaning."""

_LENGTH_NORMALISATION = 0.75  # of every field, BM25's b
_DECIMALS = 5
_SPARE = 50


def build(passages: Iterable[NamedPassage], path: str | Path) -> int:
    """Write the index of the passages into the folder ``path`` and return how many it holds.

    Parameters
    ----------
    passages
        With their annotations, in the order of the corpus. Terrier's name of a passage is its row.

    Raises
    ------
    MissingModelError
        Java, PyTerrier's bridge to it, or Terrier's jars are not there.
    """
    start_java()
    path = Path(path)
    shutil.rmtree(path, ignore_errors=True)
    ids: list[str] = []

    def documents() -> Iterator[dict[str, str]]:
        for row, (passage, named) in enumerate(passages):
            ids.append(passage.passage_id)
            names = {field: ". ".join(a.name for a in named if NAME_FIELDS[a.origin] == field) for field in FIELDS[3:]}
            yield {
                "docno": str(row),
                "text": passage.text,
                "title": passage.title,
                "heading": passage.heading or "",
                **names,
            }

    with _folder(path).building() as facts:
        indexer = pt.terrier.IterDictIndexer(str(path.absolute()), text_attrs=list(FIELDS), fields=True, overwrite=True)
        indexer.index(documents())
        write_ids(path / "ids.txt", ids)
        facts |= {"passages": len(ids), "ids": digest(ids)}
    return len(ids)


class TerrierRetriever(pt.Transformer):
    """BM25F over an index that `build` wrote; takes and returns what ``sparse.SparseRetriever`` does.

    Terrier has no exclusion of its own: as many more passages are fetched as are to be left out, which loses nothing.

    Raises
    ------
    InputError
        The folder holds no whole index of this version.
    MissingModelError
        Java, PyTerrier's bridge to it, or Terrier's jars are not there.
    """

    def __init__(self, path: str | Path, boosts: Mapping[str, float], depth: int):
        self.depth = depth
        self.folder = _folder(path)
        self.corpus = self.folder.description()["ids"]
        self.ids = read_ids(self.folder.path / "ids.txt")
        start_java()
        self._index = pt.terrier.IndexFactory.of(str(self.folder.path.absolute()))
        self._controls = {f"w.{place}": str(boosts[field]) for place, field in enumerate(FIELDS)}
        self._controls |= {f"c.{place}": str(_LENGTH_NORMALISATION) for place in range(len(FIELDS))}
        self._tokens = pt.terrier.rewrite.tokenise()

    def __len__(self) -> int:
        return len(self.ids)

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        """Return the ranking of each query."""
        pt.validate.query_frame(inp, extra_columns=["query"], context=self)
        found = [self._search(text, out) for text, out in zip(inp["query"], frames.exclusions(inp), strict=True)]
        return frames.results(inp, found)

    def _search(self, text: str, excluded: frozenset[str]) -> tuple[list[str], list[float]]:
        # tokenised: characters of Terrier's query language have no meaning in a question
        query = self._tokens.transform(pd.DataFrame({"qid": ["q"], "query": [text]}))[["qid", "query"]]
        if not query["query"].iloc[0].strip():
            return [], []
        limit = min(self.depth + _SPARE + len(excluded), len(self))
        engine = pt.terrier.Retriever(self._index, wmodel="BM25F", controls=dict(self._controls), num_results=limit)
        hits = engine.transform(query)
        ids = self.ids.take(hits["docno"].astype(int).to_numpy())
        scores = hits["score"].round(_DECIMALS).to_numpy()
        kept = [i for i, passage_id in enumerate(ids) if passage_id not in excluded]
        best = [kept[i] for i in frames.order([ids[i] for i in kept], scores[kept], self.depth)]
        return [ids[i] for i in best], scores[best].tolist()


def start_java() -> None:
    """Start Java with Terrier, once a process.

    Raises
    ------
    MissingModelError
        What it wants is not there.
    """
    try:
        pt.java.init()
    except Exception as error:  # the bridge raises exceptions of Java's own, which share no class
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise MissingModelError(
            f"lexical.engine terrier: Java with Terrier cannot be started ({reason}); install Java 11 or newer and"
            ' `pip install "pyterrier[java]"`, with a network for Terrier\'s jars, or set lexical.engine to tantivy'
        ) from error


def _folder(path: str | Path) -> IndexFolder:
    return IndexFolder(path, "Terrier index", {"format": FORMAT, "pyterrier": pt.__version__})
