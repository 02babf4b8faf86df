"""Names document by document, and the union of both origins."""

from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrag.corpus.naming.document_level import open_assigner
from calibrag.corpus.naming.documents import assign_documents, unite
from calibrag.errors import InputError
from calibrag.records import Annotation, Passage


def passage(doc_id, ordinal, text="It ran."):
    return Passage(
        passage_id=f"{doc_id}#{ordinal}",
        doc_id=doc_id,
        title="Zoo",
        heading=None,
        kind="text",
        ordinal=ordinal,
        start=0,
        end=1,
        text=text,
    )


def annotation(passage_id, name, origin="passage"):
    return Annotation(passage_id=passage_id, name=name, origin=origin)


def test_each_document_is_assigned_by_itself_with_the_names_of_its_passages():
    seen = []

    def assign(passages, names):
        seen.append(([p.passage_id for p in passages], names))
        yield annotation(passages[-1].passage_id, "Zoo", "document")

    passages = [passage("b", 0), passage("b", 1), passage("a", 0)]
    names = [annotation("b#1", "Ripley"), annotation("b#1", "Kane"), annotation("a#0", "Ash")]
    assert [a.passage_id for a in assign_documents(passages, names, assign)] == ["b#1", "a#0"]
    assert seen == [(["b#0", "b#1"], {"b#0": [], "b#1": ["Ripley", "Kane"]}), (["a#0"], {"a#0": ["Ash"]})]


def test_one_document_is_in_memory_at_a_time():
    read = []

    def stream():
        for doc_id in "abc":
            read.append(doc_id)
            yield passage(doc_id, 0)

    def assign(passages, names):
        yield annotation(passages[0].passage_id, "Zoo", "document")

    next(assign_documents(stream(), [], assign))
    assert read == ["a", "b"]


def test_the_names_that_a_passage_spells_out_come_first_and_win():
    spelled = [annotation("a#0", "Zoo"), annotation("a#0", "Kane"), annotation("a#2", "Ash")]
    assigned = [
        annotation("a#0", "ZOO", "document"),
        annotation("a#0", "Rex", "document"),
        annotation("a#1", "Zoo", "document"),
    ]
    assert list(unite(["a#0", "a#1", "a#2"], spelled, assigned)) == [
        annotation("a#0", "Zoo"),
        annotation("a#0", "Kane"),
        annotation("a#0", "Rex", "document"),
        annotation("a#1", "Zoo", "document"),
        annotation("a#2", "Ash"),
    ]


@pytest.mark.parametrize("late", [0, 1])
def test_annotations_out_of_the_order_of_passages_are_refused(late):
    levels = [[], []]
    levels[late] = [annotation("a#1", "Zoo"), annotation("a#0", "Kane")]
    with pytest.raises(InputError, match="'a#0' out of place"):
        list(unite(["a#0", "a#1"], *levels))


@given(st.lists(st.tuples(st.integers(0, 5), st.sampled_from("abcABC"), st.booleans())), st.integers(0, 6))
def test_the_union_of_shards_is_the_union_of_the_whole(drawn, cut):
    ids = [f"d#{n}" for n in range(6)]
    levels = [
        [
            annotation(f"d#{n}", name, origin)
            for n, name, document in sorted(drawn)
            if document == (origin == "document")
        ]
        for origin in ("passage", "document")
    ]
    whole = list(unite(ids, *levels))
    parts = [
        unite(part, *([a for a in level if a.passage_id in part] for level in levels))
        for part in (ids[:cut], ids[cut:])
    ]
    assert list(chain.from_iterable(parts)) == whole
    keys = [(a.passage_id, a.name.casefold()) for a in whole]
    assert len(set(keys)) == len(keys)
    assert set(keys) == {(a.passage_id, a.name.casefold()) for level in levels for a in level}


def test_the_offline_method_goes_by_its_settings():
    passages = [passage("a", 0, "Zoo is a film."), passage("a", 1, "It ran.")]
    for rules, count in ((["pronoun"], 1), (["table"], 0)):
        assign = open_assigner({"method": "offline", "rules": rules, "at_most": 1}, None, print)
        assert len(list(assign(passages, {}))) == count
    with pytest.raises(ValueError, match="method must be"):
        open_assigner({"method": "guess"}, None, print)
