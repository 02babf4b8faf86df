"""The inverted index: BM25 over text, title, heading and names of passages, kept by tantivy.

A passage's score is the sum over query terms and fields of boost x BM25 (k1 = 1.2, b = 0.75, tantivy's own),
each field with its own lengths and document frequencies: a sum over fields, not BM25F.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import pyterrier as pt
import tantivy

from calibrag.corpus.passage_ids import digest, read_ids, write_ids
from calibrag.retrieval import frames
from calibrag.retrieval.index_folder import IndexFolder, WriteError
from calibrag.retrieval.named import NamedPassage

NAME_FIELDS = {"passage": "entities", "document": "document_entities"}
"""The field of the names of each origin: those that a passage spells out, and those assigned from its document."""

FIELDS = ("text", "title", "heading", *NAME_FIELDS.values())

FORMAT = 3
"""Version of the index folder; raised when the schema or the analysis changes its meaning."""

_ANALYZER = "calibrag"
_LONGEST_TERM = 40  # bytes, as in tantivy's own English analysis

# tantivy adds single-precision numbers in an order that depends on how passages fell into segments, hence on
# the threads that built the index; scores are compared at a precision which that noise does not reach
_DECIMALS = 3
_SPARE = 50


def build(
    passages: Iterable[NamedPassage],
    path: str | Path,
    *,
    threads: int,
    heap_mb: int,
    stem: bool,
    stopwords: bool,
    fold_accents: bool,
) -> int:
    """Write the index of the passages into the folder ``path`` and return how many it holds.

    Whatever the folder held before is removed. Memory does not grow with the corpus, but for the ids at the end.

    Parameters
    ----------
    passages
        With their annotations, in the order of the corpus.
    threads, heap_mb
        Indexing threads, and the memory in MB (1 MB = 1,000,000 bytes) that they share; tantivy wants
        at least 15 MB a thread.
    stem, stopwords, fold_accents
        Whether words are cut to their English stems, English function words are dropped, and accents are
        dropped. Queries are analysed in the same way: the choice is kept beside the index.

    Raises
    ------
    CalibragError
        The disk is full, or the folder cannot be written to; no whole index is left.
    """
    path = Path(path)
    shutil.rmtree(path, ignore_errors=True)
    analysis = {"stem": stem, "stopwords": stopwords, "fold_accents": fold_accents}
    with _folder(path).building() as facts:
        write_ids(path / "ids.txt", _write(passages, path, analysis, threads, heap_mb))
        ids = read_ids(path / "ids.txt")
        facts |= {"passages": len(ids), "ids": digest(ids), **analysis}
    return len(ids)


def _write(
    passages: Iterable[NamedPassage], path: Path, analysis: Mapping[str, bool], threads: int, heap_mb: int
) -> Iterator[str]:
    """Index the passages and yield the id of each."""
    index = tantivy.Index(_schema(), path=str(path))
    index.register_tokenizer(_ANALYZER, _analyzer(**analysis))
    writer = index.writer(heap_size=heap_mb * 1_000_000, num_threads=threads)
    for row, (passage, named) in enumerate(passages):
        document = tantivy.Document()
        document.add_unsigned("row", row)
        document.add_text("text", passage.text)
        document.add_text("title", passage.title)
        if passage.heading:
            document.add_text("heading", passage.heading)
        for annotation in named:
            document.add_text(NAME_FIELDS[annotation.origin], annotation.name)
        try:
            writer.add_document(document)
        except ValueError as error:
            raise WriteError(str(error)) from error
        yield passage.passage_id
    try:
        writer.commit()
        writer.wait_merging_threads()
    except ValueError as error:
        raise WriteError(str(error)) from error


class SparseRetriever(pt.Transformer):
    """Fielded BM25 over an index that `build` wrote; opens it once.

    Input: qid, query and optionally ``exclude``; output: a ranking frame with the input's columns.
    The text of a query is data: it is analysed into terms and never parsed, so no character in it has
    a meaning. A query without terms, or whose terms no passage holds, yields no rows.

    Parameters
    ----------
    path
        Folder of the index.
    boosts
        Weight of each field that is searched; fields not named, or of weight 0, are not.
    depth
        Passages returned for a query, at most.

    Attributes
    ----------
    ids
        Passage ids by row.
    corpus
        Digest of the ids of the passages that it was built from.

    Raises
    ------
    InputError
        The folder holds no whole index of this version.
    """

    def __init__(self, path: str | Path, boosts: Mapping[str, float], depth: int):
        unknown = set(boosts) - set(FIELDS)
        if unknown:
            raise ValueError(f"boosts must be of the fields {', '.join(FIELDS)} (got {', '.join(sorted(unknown))})")
        self.boosts = {field: float(boost) for field, boost in boosts.items() if boost}
        self.depth = depth
        self.folder = _folder(path)
        description = self.folder.description()
        self.corpus = description["ids"]
        self._analyzer = _analyzer(**{key: description[key] for key in ("stem", "stopwords", "fold_accents")})
        try:
            self._index = tantivy.Index.open(str(path))
            self._searcher = self._index.searcher()
            self.ids = read_ids(self.folder.path / "ids.txt")
        except (ValueError, OSError) as error:
            raise self.folder.error(f"unreadable sparse index ({error})") from error
        if not self._searcher.num_docs == len(self.ids) == description["passages"]:
            problem = f"{description['passages']} passages (got {self._searcher.num_docs} and {len(self.ids)} ids)"
            raise self.folder.error(f"sparse index must hold {problem}")
        self._index.register_tokenizer(_ANALYZER, self._analyzer)

    def __len__(self) -> int:
        return self._searcher.num_docs

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        """Return the ranking of each query."""
        pt.validate.query_frame(inp, extra_columns=["query"], context=self)
        found = [self._search(text, out) for text, out in zip(inp["query"], frames.exclusions(inp), strict=True)]
        return frames.results(inp, found)

    def _search(self, text: str, excluded: frozenset[str]) -> tuple[list[str], list[float]]:
        query = self._query(text)
        if query is None:
            return [], []
        out = self.ids.rows(excluded)
        limit = self.depth + _SPARE
        while True:
            hits = self._searcher.search(query, limit=limit, count=False).hits
            rows = np.array(self._searcher.fast_field_values("row", [place for _, place in hits]), dtype=np.int64)
            scores = np.round([score for score, _ in hits], _DECIMALS)
            kept = ~np.isin(rows, out)
            if len(hits) < limit:
                break
            # leaving out the excluded afterwards loses nothing as long as enough are left; with as many more hits as
            # there are excluded passages, enough are. A clause against them in the query took longer
            if kept.sum() < self.depth:
                limit = max(limit * 2, self.depth + _SPARE + len(out))
            # a tie that runs past what was fetched would be cut in the index's order: fetch it whole
            elif scores[-1] < scores[kept][self.depth - 1]:
                break
            else:
                limit *= 4
        rows, scores = rows[kept], scores[kept]
        if not len(rows):
            return [], []
        # those that can still enter the ranking
        near = scores >= scores[min(self.depth, len(scores)) - 1]
        ids, scores = self.ids.take(rows[near]), scores[near]
        best = frames.order(ids, scores, self.depth)
        return [ids[i] for i in best], scores[best].tolist()

    def _query(self, text: str) -> tantivy.Query | None:
        """Return the weighted sum of the text's terms over the fields; None where no passage has any."""
        schema = self._index.schema
        clauses = []
        for term, count in sorted(Counter(self._analyzer.analyze(text)).items()):
            for field, boost in self.boosts.items():
                # a term that a field lacks adds nothing but time
                if self._searcher.doc_freq(field, term):
                    clause = tantivy.Query.term_query(schema, field, term, index_option="freq")
                    clauses.append((tantivy.Occur.Should, tantivy.Query.boost_query(clause, boost * count)))
        return tantivy.Query.boolean_query(clauses) if clauses else None


def _schema() -> tantivy.Schema:
    schema = tantivy.SchemaBuilder()
    # a column of numbers: reading what is stored of a passage for its id costs more than scoring it
    schema.add_unsigned_field("row", fast=True)
    for field in FIELDS:
        # neither the text nor the places of its words: nothing reads them, and they take two thirds of the room
        schema.add_text_field(field, stored=False, tokenizer_name=_ANALYZER, index_option="freq")
    return schema.build()


def _analyzer(stem: bool, stopwords: bool, fold_accents: bool) -> tantivy.TextAnalyzer:
    chain = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    chain = chain.filter(tantivy.Filter.remove_long(_LONGEST_TERM)).filter(tantivy.Filter.lowercase())
    if fold_accents:
        chain = chain.filter(tantivy.Filter.ascii_fold())
    if stopwords:
        chain = chain.filter(tantivy.Filter.stopword("english"))
    if stem:
        chain = chain.filter(tantivy.Filter.stemmer("english"))
    return chain.build()


def _folder(path: str | Path) -> IndexFolder:
    version = {"format": FORMAT, "tantivy": tantivy.__version__}
    return IndexFolder(path, "sparse index", version)
