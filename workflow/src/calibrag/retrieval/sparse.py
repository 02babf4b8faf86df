"""The inverted index: BM25 over the fields text, title, heading and entities, kept by tantivy.

A passage's score is the sum over query terms and fields of boost x BM25 (k1 = 1.2, b = 0.75, tantivy's own),
each field with its own lengths and document frequencies: a sum over fields, not BM25F.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import pyterrier as pt
import tantivy

from calibrag.errors import InputError
from calibrag.records import Passage
from calibrag.retrieval import frames

FIELDS = ("text", "title", "heading", "entities")

FORMAT = 1
"""Version of the index folder; raised when the schema or the analysis changes its meaning."""

_DESCRIPTION = "calibrag.json"
_ANALYZER = "calibrag"
_LONGEST_TERM = 40  # bytes, as in tantivy's own English analysis
_REBUILD = "build it again: `snakemake --cores 1 --forcerun build_sparse_index`"

# tantivy adds single-precision numbers in an order that depends on how passages fell into segments, hence on
# the threads that built the index; scores are compared at a precision which that noise does not reach
_DECIMALS = 3
_SPARE = 50


def build(
    passages: Iterable[Passage],
    names: Mapping[str, list[str]],
    path: str | Path,
    *,
    threads: int,
    heap_mb: int,
    stem: bool,
    stopwords: bool,
    fold_accents: bool,
) -> int:
    """Write the index of the passages into the folder ``path`` and return how many it holds.

    Whatever the folder held before is removed.

    Parameters
    ----------
    names
        For each passage id the names annotated in it; a passage without names may be absent.
    threads, heap_mb
        Indexing threads, and the memory in MB (1 MB = 1,000,000 bytes) that they share; tantivy wants
        at least 15 MB a thread.
    stem, stopwords, fold_accents
        Whether words are cut to their English stems, English function words are dropped, and accents are
        dropped. Queries are analysed in the same way: the choice is kept beside the index.
    """
    path = Path(path)
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    analysis = {"stem": stem, "stopwords": stopwords, "fold_accents": fold_accents}
    index = tantivy.Index(_schema(), path=str(path))
    index.register_tokenizer(_ANALYZER, _analyzer(**analysis))
    writer = index.writer(heap_size=heap_mb * 1_000_000, num_threads=threads)
    count = 0
    for passage in passages:
        document = tantivy.Document()
        document.add_text("id", passage.passage_id)
        document.add_text("text", passage.text)
        document.add_text("title", passage.title)
        if passage.heading:
            document.add_text("heading", passage.heading)
        for name in names.get(passage.passage_id, ()):
            document.add_text("entities", name)
        writer.add_document(document)
        count += 1
    writer.commit()
    writer.wait_merging_threads()
    # written last: a folder without it is an index whose building was cut short
    description = {"format": FORMAT, "tantivy": tantivy.__version__, "passages": count, **analysis}
    (path / _DESCRIPTION).write_text(json.dumps(description, indent=1) + "\n", encoding="utf-8")
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
        self._index, description = _open(self.path)
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
        query = self._query(text, excluded)
        if query is None:
            return [], []
        limit = self.depth + _SPARE
        while True:
            hits = self._searcher.search(query, limit=limit, count=False).hits
            scores = np.round([score for score, _ in hits], _DECIMALS)
            # a tie that runs past what was fetched would be cut in the index's order: fetch it whole
            if len(hits) < limit or scores[-1] < scores[self.depth - 1]:
                break
            limit *= 4
        if not hits:
            return [], []
        # the ids of passages that can still enter the ranking; reading a stored passage costs more than scoring it
        kept = [i for i in range(len(hits)) if scores[i] >= scores[min(self.depth, len(hits)) - 1]]
        ids = [self._searcher.doc(hits[i][1]).get_first("id") for i in kept]
        best = frames.order(ids, scores[kept], self.depth)
        return [ids[i] for i in best], [float(scores[kept[i]]) for i in best]

    def _query(self, text: str, excluded: frozenset[str]) -> tantivy.Query | None:
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
        query = tantivy.Query.boolean_query(clauses)
        if not excluded:
            return query
        out = tantivy.Query.term_set_query(schema, "id", sorted(excluded))
        return tantivy.Query.boolean_query([(tantivy.Occur.Must, query), (tantivy.Occur.MustNot, out)])


def _schema() -> tantivy.Schema:
    schema = tantivy.SchemaBuilder()
    schema.add_text_field("id", stored=True, tokenizer_name="raw", index_option="basic")
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


def _open(path: Path) -> tuple[tantivy.Index, dict]:
    """Return the opened index and its description, or raise InputError with the way out."""
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
    if held != description["passages"]:
        raise InputError(path, f"sparse index must hold {description['passages']} passages (got {held}); {_REBUILD}")
    index.register_tokenizer(_ANALYZER, _analyzer(**{k: description[k] for k in ("stem", "stopwords", "fold_accents")}))
    return index, description
