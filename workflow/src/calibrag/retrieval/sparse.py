"""The inverted index: BM25 over the text, title, heading and names of passages, kept by tantivy.

A passage's score is the sum over query terms and fields of boost x BM25 (k1 = 1.2, b = 0.75, tantivy's own),
each field with its own lengths and document frequencies: a sum over fields, not BM25F.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pyterrier as pt
import tantivy

from calibrag.errors import InputError
from calibrag.records import Annotation, Passage
from calibrag.retrieval import frames
from calibrag.retrieval.passage_ids import PassageIds, digest, read_ids

NAME_FIELDS = {"passage": "entities", "document": "document_entities"}
"""The field of the names of each origin: those that a passage spells out, and those that it refers to."""

FIELDS = ("text", "title", "heading", *NAME_FIELDS.values())

FORMAT = 2
"""Version of the index folder; raised when the schema or the analysis changes its meaning."""

_DESCRIPTION = "calibrag.json"
_ANALYZER = "calibrag"
_IDS = "ids.txt"
_LONGEST_TERM = 40  # bytes, as in tantivy's own English analysis
_REBUILD = "build it again: `snakemake --cores 1 --forcerun build_sparse_index`"

# tantivy adds single-precision numbers in an order that depends on how passages fell into segments, hence on
# the threads that built the index; scores are compared at a precision which that noise does not reach
_DECIMALS = 3
_SPARE = 50


def build(
    passages: Iterable[tuple[Passage, Sequence[Annotation]]],
    path: str | Path,
    *,
    threads: int,
    heap_mb: int,
    stem: bool,
    stopwords: bool,
    fold_accents: bool,
) -> int:
    """Write the index of the passages into the folder ``path`` and return how many it holds.

    Whatever the folder held before is removed. Memory does not grow with the corpus.

    Parameters
    ----------
    passages
        Each with its annotations, as ``named.with_names`` yields them.
    threads, heap_mb
        Indexing threads, and the memory in MB (1 MB = 1,000,000 bytes) that they share; tantivy wants
        at least 15 MB a thread.
    stem, stopwords, fold_accents
        Whether words are cut to their English stems, English function words are dropped, and accents are
        dropped. Queries are analysed in the same way: the choice is kept beside the index.

    Raises
    ------
    OSError
        The disk is full, or the folder cannot be written; what stands there is then no whole index.
    """
    path = Path(path)
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    analysis = {"stem": stem, "stopwords": stopwords, "fold_accents": fold_accents}
    try:
        count = _write(passages, path, analysis, threads, heap_mb)
    except ValueError as error:
        # tantivy reports every fault of its threads so, a full disk as well
        raise OSError(f"{path}: the sparse index could not be written ({error}); is the disk full?") from error
    with open(path / _IDS, encoding="utf-8", newline="\n") as ids:
        description = {"format": FORMAT, "tantivy": tantivy.__version__, "passages": count, **analysis}
        description["ids"] = digest(line.rstrip("\n") for line in ids)
    # written last: a folder without it is an index whose building was cut short
    (path / _DESCRIPTION).write_text(json.dumps(description, indent=1) + "\n", encoding="utf-8")
    return count


def _write(
    passages: Iterable[tuple[Passage, Sequence[Annotation]]], path: Path, analysis: dict, threads: int, heap_mb: int
) -> int:
    index = tantivy.Index(_schema(), path=str(path))
    index.register_tokenizer(_ANALYZER, _analyzer(**analysis))
    writer = index.writer(heap_size=heap_mb * 1_000_000, num_threads=threads)
    count = 0
    with open(path / _IDS, "w", encoding="utf-8", newline="\n") as ids:
        for passage, annotations in passages:
            document = tantivy.Document()
            document.add_unsigned("row", count)
            document.add_text("text", passage.text)
            document.add_text("title", passage.title)
            if passage.heading:
                document.add_text("heading", passage.heading)
            for annotation in annotations:
                document.add_text(NAME_FIELDS[annotation.origin], annotation.name)
            writer.add_document(document)
            ids.write(f"{passage.passage_id}\n")
            count += 1
    writer.commit()
    writer.wait_merging_threads()
    return count


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

    Raises
    ------
    InputError
        The folder holds no whole index of this version.
    """

    def __init__(self, path: str | Path, boosts: Mapping[str, float], depth: int):
        unknown = set(boosts) - set(FIELDS)
        if unknown:
            raise ValueError(f"boosts must be of the fields {', '.join(FIELDS)} (got {', '.join(sorted(unknown))})")
        self.path = Path(path)
        self.boosts = {field: float(boost) for field, boost in boosts.items() if boost}
        self.depth = depth
        self._index, description, self.ids = _open(self.path)
        self._analyzer = _analyzer(**{key: description[key] for key in ("stem", "stopwords", "fold_accents")})
        self._searcher = self._index.searcher()

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
        # with as many more hits as there are passages to leave out, leaving them out afterwards loses nothing; a
        # clause against them took three times as long
        limit = self.depth + len(out) + _SPARE
        while True:
            hits = self._searcher.search(query, limit=limit, count=False).hits
            rows = np.array(self._searcher.fast_field_values("row", [address for _, address in hits]), dtype=np.int64)
            scores = np.round([score for score, _ in hits], _DECIMALS)
            kept = ~np.isin(rows, out)
            # a tie that runs past what was fetched would be cut in the index's order: fetch it whole
            if len(hits) < limit or scores[-1] < scores[kept][self.depth - 1]:
                break
            limit *= 4
        rows, scores = rows[kept], scores[kept]
        if not len(rows):
            return [], []
        # those that can still enter the ranking
        near = scores >= scores[min(self.depth, len(scores)) - 1]
        ids, scores = self.ids.take(rows[near]), scores[near]
        best = frames.order(ids, scores, self.depth)
        return [ids[i] for i in best], [float(scores[i]) for i in best]

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
        if not clauses:
            return None
        return tantivy.Query.boolean_query(clauses)


def _schema() -> tantivy.Schema:
    schema = tantivy.SchemaBuilder()
    # the row of the passage: a column of numbers, since reading a stored passage costs more than scoring it
    schema.add_unsigned_field("row", fast=True)
    for field in FIELDS:
        schema.add_text_field(field, stored=field == "text", tokenizer_name=_ANALYZER, index_option="position")
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


def _open(path: Path) -> tuple[tantivy.Index, dict, PassageIds]:
    """Return the opened index, its description and its ids, or raise InputError with the way out."""
    try:
        description = json.loads((path / _DESCRIPTION).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise InputError(path, f"no whole sparse index; {_REBUILD}") from None
    found = (description.get("format"), description.get("tantivy"))
    if found != (FORMAT, tantivy.__version__):
        problem = f"must be format {FORMAT} by tantivy {tantivy.__version__} (got {found[0]} by {found[1]})"
        raise InputError(path, f"sparse index {problem}; {_REBUILD}")
    try:
        index = tantivy.Index.open(str(path))
        held = index.searcher().num_docs
    except (ValueError, OSError) as error:
        raise InputError(path, f"unreadable sparse index ({error}); {_REBUILD}") from error
    ids = read_ids(path / _IDS)
    if not held == len(ids) == description["passages"]:
        problem = f"must hold {description['passages']} passages (got {held}, and {len(ids)} ids)"
        raise InputError(path, f"sparse index {problem}; {_REBUILD}")
    index.register_tokenizer(_ANALYZER, _analyzer(**{k: description[k] for k in ("stem", "stopwords", "fold_accents")}))
    return index, description, ids
