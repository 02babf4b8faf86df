"""The index of names and entity search, on a corpus worked by hand."""

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrag.corpus.store import write_annotations
from calibrag.errors import InputError
from calibrag.normalisation import name_key
from calibrag.records import Annotation, NameCount
from calibrag.retrieval.entities import NameIndex, index_names, passages_of_name

IDS = ["a#0", "a#1", "b#0", "c#0", "d#0"]
CARRIED = {
    "a#0": ["Steven Spielberg", "Jaws", "Amélie"],
    "a#1": ["Spielberg", "Jaws"],
    "b#0": ["steven spielberg", "JAWS", "Jaws", "Tom Hanks"],
    "c#0": ["Amelie"],
    "d#0": ["Spielbergs"],
}


def annotations(carried, path):
    """Write the names of passages as annotations, the last of each as one of the document's."""
    write_annotations(
        path,
        (
            Annotation(passage_id=p, name=n, origin="document" if n == names[-1] else "passage")
            for p, names in carried.items()
            for n in names
        ),
    )
    return path


def opened(carried, ids, folder):
    index_names(annotations(carried, folder / "annotations.parquet"), ids, folder / "nodes.parquet")
    return NameIndex.open(folder / "nodes.parquet", len(ids))


@pytest.fixture
def index(tmp_path):
    return opened(CARRIED, IDS, tmp_path)


def found(index, name, excluded=(), passages=10, names=10):
    hits, carried = passages_of_name(index, IDS, name, set(excluded), passages, names)
    return [hit.passage_id for hit in hits], carried


def test_spellings_of_a_name_meet_in_one_node_under_the_commonest(index):
    assert index.keys.to_pylist() == ["amelie", "jaws", "spielberg", "spielbergs", "steven spielberg", "tom hanks"]
    assert index.names.to_pylist() == ["Amélie", "Jaws", "Spielberg", "Spielbergs", "Steven Spielberg", "Tom Hanks"]
    # "JAWS" and "Jaws" of one passage count once
    assert index.counts.tolist() == [2, 3, 1, 1, 2, 1]
    assert [index.rows(node).tolist() for node in range(6)] == [[0, 3], [0, 1, 2], [1], [4], [0, 2], [2]]
    assert index.by_passage.toarray().sum(axis=1).tolist() == [3, 2, 3, 1, 1]


def test_the_very_name_comes_before_longer_ones_and_whole_words_only(index):
    # a#1 carries the name itself; a#0 and b#0 carry a longer one; "Spielbergs" is another word
    assert found(index, "Spielberg")[0] == ["a#1", "a#0", "b#0"]
    hits, _ = passages_of_name(index, IDS, "Spielberg", set(), 10, 10)
    assert [hit.score > 1 for hit in hits] == [True, False, False]
    assert [hit.rank for hit in hits] == [1, 2, 3]


def test_a_short_list_of_names_comes_before_a_long_one(index):
    assert found(index, "Jaws")[0] == ["a#1", "a#0", "b#0"]


def test_a_score_is_bm25_over_the_list_of_names(index):
    hits, _ = passages_of_name(index, IDS, "Tom Hanks", set(), 10, 10)
    # one of five passages carries it; its list holds 3 names, the mean is 2
    bm25 = np.log(1 + 4.5 / 1.5) * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 3 / 2))
    assert [hit.score for hit in hits] == [pytest.approx(1 + bm25 / (1 + bm25), abs=1e-8)]


@pytest.mark.parametrize("spelling", ["Amélie", "AMELIE", " amélie! "])
def test_case_accents_and_marks_do_not_count(index, spelling):
    assert found(index, spelling)[0] == ["c#0", "a#0"]


def test_names_of_the_passages_come_most_frequent_first(index):
    _, names = found(index, "Steven Spielberg")
    assert names == [
        NameCount(name="Jaws", passages=2),
        NameCount(name="Steven Spielberg", passages=2),
        NameCount(name="Amélie", passages=1),
        NameCount(name="Tom Hanks", passages=1),
    ]
    assert found(index, "Steven Spielberg", names=1)[1] == names[:1]


def test_excluded_passages_neither_appear_nor_lend_their_names(index):
    passages, names = found(index, "Steven Spielberg", excluded={"b#0"})
    assert passages == ["a#0"]
    assert [name.name for name in names] == ["Amélie", "Jaws", "Steven Spielberg"]
    assert found(index, "Tom Hanks", excluded={"b#0"}) == ([], [])


def test_the_cut_comes_after_the_exclusion(index):
    assert found(index, "Jaws", excluded={"a#1"}, passages=1)[0] == ["a#0"]


@pytest.mark.parametrize("name", ["", "?!", "Nobody", "Steven Spielberg Jr", "teven"])
def test_an_unknown_name_finds_nothing(index, name):
    assert found(index, name) == ([], [])


def test_a_name_is_never_a_pattern(index):
    assert found(index, ".*") == ([], []) and found(index, "J(a)ws")[0] == []


def test_a_corpus_without_names_has_an_empty_index(tmp_path):
    index = opened({}, IDS, tmp_path)
    assert len(index) == 0 and index.by_passage.shape == (5, 0)
    assert passages_of_name(index, IDS, "Jaws", set(), 5, 5) == ([], [])


def test_damaged_annotations_are_refused(tmp_path):
    path = tmp_path / "annotations.parquet"
    path.write_bytes(b"PAR1 no Parquet file")
    with pytest.raises(InputError, match="annotations.parquet: no annotations.*run the workflow again"):
        index_names(path, IDS, tmp_path / "nodes.parquet")


def test_names_of_a_passage_that_is_not_there_are_refused(tmp_path):
    with pytest.raises(InputError, match="holds names of the passage z#0, which is not among the passages"):
        opened({"z#0": ["Jaws"]}, IDS, tmp_path)


def test_a_damaged_or_strange_index_says_how_to_build_it_again(tmp_path, index):
    (tmp_path / "cut.parquet").write_bytes((tmp_path / "nodes.parquet").read_bytes()[:-20])
    for path, passages, problem in (
        ("cut.parquet", 5, "no index of names"),
        ("missing.parquet", 5, "no index of names"),
        ("annotations.parquet", 5, "must have the columns"),
        ("nodes.parquet", 4, "names passage 4 of 4"),
    ):
        with pytest.raises(InputError, match=f"{problem}.*run the workflow again"):
            NameIndex.open(tmp_path / path, passages)


NAMES = st.lists(st.sampled_from(["Ann", "ann", "Ann Lee", "Lee", "Bo", "Bó", "Ann Lee Bo", "?"]), unique=True)


@given(carried=st.lists(NAMES, min_size=1, max_size=8), data=st.data())
@settings(max_examples=60, deadline=None)
def test_entity_search_finds_what_a_plain_loop_finds(tmp_path_factory, carried, data):
    ids = [f"p{i}" for i in range(len(carried))]
    index = opened(dict(zip(ids, carried, strict=True)), ids, tmp_path_factory.mktemp("names"))
    name = data.draw(st.sampled_from(["ann", "Lee", "Ann Lee", "Bo", "lee bo"]))
    excluded = data.draw(st.sets(st.sampled_from(ids)))
    most = data.draw(st.sampled_from([1, 2, 3, 100]))
    short = passages_of_name(index, ids, name, excluded, most, 100)[0]
    hits, names = passages_of_name(index, ids, name, excluded, 100, 100)
    assert short == hits[:most]
    keys = {p: {name_key(n) for n in some} - {""} for p, some in zip(ids, carried, strict=True) if p not in excluded}
    key = name_key(name)
    exact = {p for p in keys if key in keys[p]}
    partial = {p for p in keys if any(f" {key} " in f" {other} " for other in keys[p])}
    assert {hit.passage_id for hit in hits} == partial
    assert {hit.passage_id for hit in hits[: len(exact)]} == exact
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    expected = {other: sum(other in keys[p] for p in partial) for p in partial for other in keys[p]}
    assert {name_key(found.name): found.passages for found in names} == expected


def test_the_index_is_the_same_file_each_time(tmp_path):
    for name in ("1", "2"):
        index_names(annotations(CARRIED, tmp_path / "a.parquet"), IDS, tmp_path / name)
    assert pq.read_table(tmp_path / "1").equals(pq.read_table(tmp_path / "2"))
