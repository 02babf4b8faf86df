"""The rule that gives questions their splits."""

from hypothesis import given
from hypothesis import strategies as st

from calibrag.collections.splitting import assign_splits, draw_order, question_key


def test_the_order_depends_on_the_seed_and_not_on_the_order_given():
    names = [f"n{number}" for number in range(30)]
    assert draw_order(names, 1) == draw_order(reversed(names), 1) != draw_order(names, 2)
    assert sorted(draw_order(names, 1)) == sorted(names)


@given(st.dictionaries(st.text(max_size=4), st.sampled_from("abcdefgh")), st.integers(0, 9))
def test_groups_stay_whole_and_splits_reach_their_sizes_by_less_than_a_group(groups, seed):
    sizes = {"test": 5, "dev": 2}
    splits = assign_splits(groups, sizes, "train", seed)
    assert set(splits) == set(groups)
    assert len({(groups[qid], split) for qid, split in splits.items()}) == len(set(groups.values()))
    largest = max(map(list(groups.values()).count, groups.values()), default=0)
    for split, size in sizes.items():
        assert sum(s == split for s in splits.values()) < size + max(largest, 1)


def test_a_group_more_moves_no_other_group_but_over_a_border():
    groups = {f"q{number}": f"q{number}" for number in range(40)}
    before = assign_splits(groups, {"test": 20}, "train", 3)
    after = assign_splits({**groups, "new": "new"}, {"test": 20}, "train", 3)
    assert sum(before[qid] != after[qid] for qid in before) <= 1


def test_questions_that_differ_in_case_punctuation_and_spacing_are_the_same():
    assert question_key(" Who  was Kane?! ") == question_key("who was\nKANE") != question_key("who was Ash")
