"""Which passages carry which names: the index of names, and entity search in it.

The nodes of the co-occurrence graph (``retrieval.graph``) are these names.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from scipy.sparse import csr_array

from calibrag.errors import InputError
from calibrag.normalisation import name_key
from calibrag.records import Hit, NameCount, whole_file

NODES = pa.schema(
    [
        pa.field("key", pa.string(), nullable=False),
        pa.field("name", pa.string(), nullable=False),
        pa.field("passages", pa.list_(pa.int32()), nullable=False),
    ]
)
"""Names in the order of their keys: `normalisation.name_key`, commonest spelling, rows of the passage file."""

_REBUILD = "remove it and run the workflow again"
_SLICE = 100_000  # spellings held as Python objects at a time
_K1, _B = 1.2, 0.75  # of BM25, as in the sparse index
_DECIMALS = 9


def index_names(annotations: str | Path, passage_ids: Sequence[str] | pa.Array, path: str | Path) -> int:
    """Write the index of all annotated names, of both origins, to the Parquet file ``path``; returns how many.

    Parameters
    ----------
    annotations
        File of annotations, as ``corpus.store.write_annotations`` wrote it.
    passage_ids
        Ids of the passages, in the order of their file; their places are the index's row numbers.

    Raises
    ------
    InputError
        The file is damaged, or an annotation is of a passage that is not there.
    """
    columns = ["passage_id", "name"]
    # as dictionaries: numbers a row, and each different text once
    try:
        table = pq.read_table(annotations, columns=columns, read_dictionary=columns, page_checksum_verification=True)
    except (pa.ArrowException, OSError) as error:
        raise InputError(annotations, f"no annotations, or damaged ones ({error}); {_REBUILD}") from error
    table = table.unify_dictionaries()
    owners, spelled = (_combined(table.column(column)) for column in columns)
    rows = pc.index_in(owners.dictionary, value_set=pa.array(passage_ids))
    if rows.null_count:
        strange = owners.dictionary.filter(pc.is_null(rows))[0]
        raise InputError(annotations, f"holds names of the passage {strange}, which is not among the passages")
    spellings = spelled.dictionary
    keys = _keys(spellings)
    nodes = pc.unique(keys)
    nodes = nodes.filter(pc.not_equal(nodes, ""))
    nodes = nodes.take(pc.sort_indices(nodes))
    node_of = pc.fill_null(pc.index_in(keys, value_set=nodes), -1).to_numpy()
    at, used = owners.indices.to_numpy(), spelled.indices.to_numpy()
    node, row = node_of[used].astype(np.int64), rows.to_numpy()[at]
    # two spellings of one name may stand in one passage
    pairs = np.unique(node[node >= 0] * len(passage_ids) + row[node >= 0])
    node, row = np.divmod(pairs, max(1, len(passage_ids)))
    starts = np.searchsorted(node, np.arange(len(nodes) + 1)).astype(np.int32)
    commonest = np.lexsort((-np.bincount(used, minlength=len(spellings)), node_of))
    chosen = commonest[np.searchsorted(node_of[commonest], np.arange(len(nodes)))]
    passages = pa.ListArray.from_arrays(pa.array(starts), pa.array(row.astype(np.int32)))
    table = pa.Table.from_arrays([nodes, spellings.take(pa.array(chosen)), passages], schema=NODES)
    with whole_file(path) as partial:
        pq.write_table(table, partial, compression="zstd")
    return len(nodes)


def _combined(column: pa.ChunkedArray) -> pa.DictionaryArray:
    return column.combine_chunks() if column.num_chunks else pa.array([], pa.string()).dictionary_encode()


def _keys(spellings: pa.Array) -> pa.Array:
    parts = [
        pa.array(map(name_key, spellings.slice(start, _SLICE).to_pylist()), pa.string())
        for start in range(0, len(spellings), _SLICE)
    ]
    return pa.concat_arrays(parts) if parts else pa.array([], pa.string())


class NameIndex:
    """Names by number, from 0 in the order of their keys, and the passages that carry them.

    Attributes
    ----------
    keys, names
        Arrow arrays: key and commonest spelling of each name.
    """

    def __init__(self, table: pa.Table, passages: int):
        self.keys, self.names, lists = (table.column(name).combine_chunks() for name in NODES.names)
        self.passages = passages
        self._starts = lists.offsets.to_numpy()
        self._rows = lists.values.to_numpy()

    @classmethod
    def open(cls, path: str | Path, passages: int) -> NameIndex:
        """Return the index that `index_names` wrote, over a corpus of so many passages.

        Raises
        ------
        InputError
            The file is no such index, or of other passages.
        """
        try:
            table = pq.read_table(path, memory_map=True)
        except (pa.ArrowException, OSError) as error:
            raise InputError(path, f"no index of names ({error}); {_REBUILD}") from error
        if table.schema.names != NODES.names:
            raise InputError(path, f"must have the columns {NODES.names} (got {table.schema.names}); {_REBUILD}")
        index = cls(table, passages)
        if len(index._rows) and index._rows.max() >= passages:
            raise InputError(path, f"names passage {index._rows.max()} of {passages}; {_REBUILD}")
        return index

    def __len__(self) -> int:
        return len(self.keys)

    def find(self, key: str) -> int | None:
        """Return the number of the name with this key; None where there is none."""
        # Arrow sorts by UTF-8 bytes, which is the order of Python's strings
        place = bisect_left(self.keys, key, key=pa.StringScalar.as_py)
        return place if place < len(self) and self.keys[place].as_py() == key else None

    def containing(self, key: str) -> np.ndarray:
        """Return the numbers of the names that hold the key as whole words, itself among them."""
        # a key is words and spaces: nothing in it has a meaning in a pattern
        return np.flatnonzero(pc.match_substring_regex(self.keys, f"(^| ){key}( |$)").to_numpy(zero_copy_only=False))

    def rows(self, node: int) -> np.ndarray:
        """Return the rows of the passages that carry a name, rising."""
        return self._rows[self._starts[node] : self._starts[node + 1]]

    @cached_property
    def counts(self) -> np.ndarray:
        """How many passages carry each name."""
        return np.diff(self._starts)

    @cached_property
    def by_passage(self) -> csr_array:
        """Matrix (passages, names) of ones: the names that each passage carries."""
        ones = np.ones(len(self._rows), dtype=np.int32)
        return csr_array((ones, self._rows, self._starts), shape=(len(self), self.passages)).T.tocsr()


def passages_of_name(
    index: NameIndex, passage_ids: Sequence[str], name: str, excluded: Collection[str], passages: int, names: int
) -> tuple[list[Hit], list[NameCount]]:
    """Return the passages that carry a name, and the names that these carry, most frequent first (entity search).

    Passages that carry the very name (same `name_key`) come first, then those that carry it as whole words of a
    longer one ("Spielberg" in "Steven Spielberg"). Among each, BM25 over the passage's list of names decides (a rare
    name and a short list weigh more), then the order of the corpus. A score above 1 marks the very name.

    Parameters
    ----------
    passage_ids
        Ids of the passages, by row.
    excluded
        Passages that must not appear, nor lend their names.
    passages, names
        Most passages, and most names, that are returned.
    """
    key = name_key(name)
    exact = index.find(key)
    best = _carriers(index, [exact], passages + len(excluded)) if exact is not None else {}
    best = {row: 1 + score for row, score in best.items() if passage_ids[row] not in excluded}
    # all names are looked through only where the very name does not fill the list
    if key and len(best) < passages:
        longer = _carriers(index, index.containing(key), passages + len(excluded) + len(best))
        best = {row: score for row, score in longer.items() if passage_ids[row] not in excluded} | best
    ranked = sorted(best.items(), key=lambda item: (-item[1], item[0]))[:passages]
    hits = [
        Hit(passage_id=passage_ids[row], rank=rank, score=score) for rank, (row, score) in enumerate(ranked, start=1)
    ]
    if not hits:
        return [], []
    carried, times = np.unique(index.by_passage[[row for row, _ in ranked]].indices, return_counts=True)
    common = np.lexsort((carried, -times))[:names]
    return hits, [NameCount(name=index.names[carried[i]].as_py(), passages=int(times[i])) for i in common]


def _carriers(index: NameIndex, nodes: Sequence[int], most: int) -> dict[int, float]:
    """Return row -> BM25 / (1 + BM25) of the best passages that carry any of these names, best first."""
    if not len(nodes):
        return {}
    counts = index.counts[nodes]
    rows, place = np.unique(np.concatenate([index.rows(node) for node in nodes]), return_inverse=True)
    idf = np.log1p((index.passages - counts + 0.5) / (counts + 0.5))
    lengths = np.diff(index.by_passage.indptr)
    weight = np.bincount(place, np.repeat(idf, counts))
    weight *= (_K1 + 1) / (1 + _K1 * (1 - _B + _B * lengths[rows] / lengths.mean()))
    scores = np.round(weight / (1 + weight), _DECIMALS)
    best = np.lexsort((rows, -scores))[:most]
    return dict(zip(rows[best].tolist(), scores[best].tolist(), strict=True))
