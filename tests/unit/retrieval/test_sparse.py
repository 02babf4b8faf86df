"""The sparse retriever: BM25 by hand, hostile queries, exclusion, order, damaged indexes."""

from __future__ import annotations

import json
import math
import random

import pandas as pd
import pytest
import tantivy
from hypothesis import given, settings
from hypothesis import strategies as st
from small_corpora import make_passage, named

from calibrag.errors import InputError
from calibrag.records import Annotation
from calibrag.retrieval import sparse

PLAIN = {"threads": 1, "heap_mb": 15, "stem": False, "stopwords": False, "fold_accents": False}
ENGLISH = PLAIN | {"stem": True, "stopwords": True, "fold_accents": True}
TEXT = {"text": 1.0}
WORDS = ["shark", "film", "paris", "boxer", "title", "house"]


def ask(retriever, *queries, exclude=None):
    frame = pd.DataFrame({"qid": [str(i) for i in range(len(queries))], "query": list(queries)})
    if exclude is not None:
        frame["exclude"] = [exclude] * len(queries)
    return retriever.transform(frame)


def index(path, passages, names=None, options=PLAIN, boosts=TEXT, depth=10):
    sparse.build(named(passages, names or {}), path, **options)
    return sparse.SparseRetriever(path, boosts, depth)


@pytest.fixture(scope="module")
def scattered(tmp_path_factory):
    """Two hundred passages of few words, full of ties, as passages and as an index."""
    rng = random.Random(7)
    passages = [make_passage(f"d{i}#0", " ".join(rng.choices(WORDS, k=rng.randint(1, 6)))) for i in range(200)]
    return passages, index(tmp_path_factory.mktemp("scattered"), passages, depth=12)


def bm25(frequency, length, average, holding, total):
    idf = math.log(1 + (total - holding + 0.5) / (holding + 0.5))
    return idf * frequency * 2.2 / (frequency + 1.2 * (0.25 + 0.75 * length / average))


def test_scores_are_bm25_worked_by_hand(tmp_path):
    retriever = index(
        tmp_path / "i",
        [
            make_passage("a#0", "red red fox"),
            make_passage("b#0", "red dog"),
            make_passage("c#0", "blue bird sings now"),
        ],
    )
    found = ask(retriever, "red fox").set_index("docno")["score"]
    average = (3 + 2 + 4) / 3
    assert found["a#0"] == pytest.approx(bm25(2, 3, average, 2, 3) + bm25(1, 3, average, 1, 3), abs=1e-3)
    assert found["b#0"] == pytest.approx(bm25(1, 2, average, 2, 3), abs=1e-3)
    assert list(found.index) == ["a#0", "b#0"]


def test_fields_add_up_by_their_boosts(tmp_path):
    passages = [
        make_passage("a#0", "wolf", title="wolf", heading="wolf"),
        make_passage("b#0", "x", title="y", heading="z"),
    ]
    names = [Annotation(passage_id="a#0", name="wolf", origin=origin) for origin in ("passage", "document")]
    sparse.build(zip(passages, [names, []], strict=True), tmp_path / "i", **PLAIN)

    def score(boosts):
        return ask(sparse.SparseRetriever(tmp_path / "i", boosts, 5), "wolf")["score"].iloc[0]

    single = {field: score({field: 1.0}) for field in sparse.FIELDS}
    boosts = {"text": 1.0, "title": 2.0, "heading": 0.5, "entities": 3.0, "document_entities": 0.25}
    assert score(boosts) == pytest.approx(sum(boosts[f] * single[f] for f in boosts), abs=5e-3)
    assert min(single.values()) > 0


def test_a_field_of_weight_zero_is_not_searched(tmp_path):
    retriever = index(tmp_path / "i", [make_passage("a#0", "x", title="wolf")], boosts={"text": 1.0, "title": 0})
    assert ask(retriever, "wolf").empty


def test_names_are_found_through_the_entities_field(tmp_path):
    retriever = index(tmp_path / "i", [make_passage("a#0", "He won.")], {"a#0": ["Ang Lee"]}, boosts={"entities": 1.0})
    assert list(ask(retriever, "films by lee")["docno"]) == ["a#0"]


def test_names_of_each_origin_have_a_field_of_their_own(tmp_path):
    passage = make_passage("a#0", "He won.")
    names = (
        list(named([passage], {"a#0": ["Ang Lee"]}))[0][1]
        + list(named([passage], {"a#0": ["Oscar"]}, "document"))[0][1]
    )
    sparse.build([(passage, names)], tmp_path / "i", **PLAIN)

    def finds(query, field):
        return not ask(sparse.SparseRetriever(tmp_path / "i", {field: 1.0}, 5), query).empty

    assert finds("lee", "entities") and finds("oscar", "document_entities")
    assert not finds("lee", "document_entities") and not finds("oscar", "entities")


def test_stems_accents_and_function_words_follow_the_choice_made_at_building(tmp_path):
    passages = [make_passage("a#0", "the cafés are closing")]
    english = index(tmp_path / "english", passages, options=ENGLISH)
    plain = index(tmp_path / "plain", passages)
    assert (
        len(ask(english, "CAFE"))
        == len(ask(english, "closed"))
        == len(ask(plain, "cafés"))
        == len(ask(plain, "the"))
        == 1
    )
    assert ask(english, "the are").empty and ask(plain, "cafe").empty and ask(plain, "closed").empty


@pytest.mark.parametrize("query", ["", "  \t\n", '( " ~ * : ^ [ ] { } \\ / + - ! && ||', "\x00\x01", "🎬"])
def test_a_query_without_terms_finds_nothing(tmp_path, query, films):
    assert ask(index(tmp_path / "i", films), query).empty


@pytest.mark.parametrize(
    "query",
    ['AND OR ( shark " ~ * :', "text:shark^9 NOT -shark", "title:[a TO z] shark", "+shark -thriller", "*shark?"],
)
def test_query_syntax_has_no_meaning(tmp_path, query, films):
    found = ask(index(tmp_path / "i", films), query)
    assert "jaws#0" in set(found["docno"])


def test_ten_thousand_words_are_a_query(tmp_path, films):
    found = ask(index(tmp_path / "i", films), " ".join(f"w{i}" for i in range(10_000)) + " shark " * 50)
    assert list(found["docno"]) == ["jaws#0"]


def test_a_repeated_word_weighs_as_often_as_it_stands(tmp_path, films):
    found = ask(index(tmp_path / "i", films), "shark", "shark shark")
    assert found["score"].iloc[1] == pytest.approx(2 * found["score"].iloc[0], abs=2e-3)


@given(text=st.text(max_size=60))
@settings(max_examples=100, deadline=None)
def test_no_text_breaks_the_retriever(scattered, text):
    found = ask(scattered[1], text)
    assert list(found.columns) == ["qid", "query", "docno", "score", "rank"]


def test_equal_scores_stand_in_order_of_ids_even_past_what_is_fetched(tmp_path):
    ids = [f"p{i:03d}#0" for i in range(300)]
    shuffled = random.Random(1).sample(ids, len(ids))
    retriever = index(tmp_path / "i", [make_passage(i, "same words") for i in shuffled], depth=5)
    found = ask(retriever, "same")
    assert list(found["docno"]) == ids[:5] and list(found["rank"]) == [0, 1, 2, 3, 4]


def test_rankings_do_not_depend_on_the_threads_that_built_the_index(tmp_path, scattered):
    passages, one = scattered
    queries = [" ".join(random.Random(i).choices(WORDS, k=3)) for i in range(40)]
    many = index(tmp_path / "i", passages, options=PLAIN | {"threads": 3, "heap_mb": 60}, depth=12)
    pd.testing.assert_frame_equal(ask(one, *queries), ask(many, *queries))


@given(
    words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=3),
    excluded=st.sets(st.integers(0, 220).map(lambda i: f"d{i}#0"), max_size=150),
)
@settings(max_examples=60, deadline=None)
def test_exclusion_removes_those_passages_and_moves_nothing_else(scattered, words, excluded):
    passages, retriever = scattered
    query = " ".join(words)
    everything = sparse.SparseRetriever(retriever.folder.path, TEXT, len(passages))
    expected = [docno for docno in ask(everything, query)["docno"] if docno not in excluded][: retriever.depth]
    # each row has its own exclusion: the other row sees the whole corpus
    frame = pd.DataFrame({"qid": ["q", "all"], "query": [query] * 2, "exclude": [frozenset(excluded), None]})
    found = retriever.transform(frame)
    assert list(found.loc[found["qid"] == "q", "docno"]) == expected
    assert list(found.loc[found["qid"] == "all", "docno"]) == list(ask(retriever, query)["docno"])


@pytest.mark.parametrize("count", [1, 60, 150, 199, 200])
def test_excluding_the_best_passages_brings_up_the_next(scattered, count):
    passages, retriever = scattered
    everything = sparse.SparseRetriever(retriever.folder.path, TEXT, len(passages))
    ranking = list(ask(everything, "shark film paris boxer title house")["docno"])
    found = ask(retriever, "shark film paris boxer title house", exclude=frozenset(ranking[:count]))
    assert list(found["docno"]) == ranking[count : count + retriever.depth]


def test_a_string_as_exclusion_is_refused(tmp_path, films):
    with pytest.raises(TypeError, match="collection of passage ids"):
        ask(index(tmp_path / "i", films), "shark", exclude="jaws#0")


def test_columns_of_the_query_are_carried_along(tmp_path, films):
    frame = pd.DataFrame({"qid": ["1"], "query": ["shark"], "exclude": [frozenset()], "kind": ["x"]})
    found = index(tmp_path / "i", films).transform(frame)
    assert (
        found.to_dict("records")[0].items()
        >= {"kind": "x", "exclude": frozenset(), "docno": "jaws#0", "rank": 0}.items()
    )


def test_unknown_field_in_boosts_is_refused(tmp_path, films):
    with pytest.raises(ValueError, match="must be of the fields text, title.*body"):
        index(tmp_path / "i", films, boosts={"body": 1.0})


def test_building_again_leaves_nothing_of_the_old_index(tmp_path, films):
    index(tmp_path / "i", films)
    assert len(index(tmp_path / "i", films[:2])) == 2


def test_absent_index_says_which_rule_builds_it(tmp_path):
    with pytest.raises(InputError, match="run the workflow again"):
        sparse.SparseRetriever(tmp_path, TEXT, 5)


@pytest.mark.parametrize("key, value", [("format", 0), ("tantivy", "0.1.0")])
def test_index_of_another_version_says_to_rebuild(tmp_path, films, key, value):
    index(tmp_path / "i", films)
    description = tmp_path / "i" / "calibrag.json"
    description.write_text(json.dumps(json.loads(description.read_text()) | {key: value}))
    with pytest.raises(InputError, match=rf"tantivy {tantivy.__version__} \(got .*{value}.*run the workflow again"):
        sparse.SparseRetriever(tmp_path / "i", TEXT, 5)


@pytest.mark.parametrize("suffix", ["meta.json", "idx", "store", "term", "pos", "fast", "fieldnorm", "ids.txt"])
@pytest.mark.parametrize("damage", ["cut short", "missing", "garbage"])
def test_damaged_index_says_to_rebuild(tmp_path, films, suffix, damage):
    sparse.build(named(films), tmp_path / "i", **PLAIN)
    files = sorted((tmp_path / "i").glob(f"*{suffix}"))
    assert files
    for file in files:
        content = {"cut short": file.read_bytes()[:-1], "garbage": b"garbage"}
        # removed first: tantivy may still have the old bytes mapped, and a shorter file under a map kills the process
        file.unlink()
        if damage != "missing":
            file.write_bytes(content[damage])
    with pytest.raises(InputError, match="run the workflow again"):
        sparse.SparseRetriever(tmp_path / "i", TEXT, 5)


def test_index_cut_short_in_building_is_no_index(tmp_path, films):
    def cut_short():
        yield from named(films)
        raise InputError("annotations.parquet", "broken")

    with pytest.raises(InputError, match="broken"):
        sparse.build(cut_short(), tmp_path / "i", **PLAIN)
    with pytest.raises(InputError, match="no whole sparse index"):
        sparse.SparseRetriever(tmp_path / "i", TEXT, 5)


def test_full_disk_is_one_message_and_leaves_no_index(tmp_path, fill_disk):
    done = fill_disk(
        50_000,
        f"""
        from small_corpora import named, make_passage
        from calibrag.retrieval import sparse
        words = [make_passage(f"d{{i}}#0", " ".join(f"w{{i * j % 99991}}" for j in range(100))) for i in range(3000)]
        sparse.build(named(words), {str(tmp_path / "i")!r}, **{PLAIN!r})
        """,
    )
    assert "CalibragError" in done and "the sparse index could not be written" in done and "make room" in done
    with pytest.raises(InputError, match="no whole sparse index"):
        sparse.SparseRetriever(tmp_path / "i", TEXT, 5)
