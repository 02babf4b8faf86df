"""What the first step of naming is made of, by its settings."""

import pytest

from calibrag.corpus.naming import passage_level
from calibrag.records import Annotation, Passage


class ScriptedTagger:
    def __init__(self, model, batch_size):
        self.made_of = (model, batch_size)

    def names(self, texts):
        for _ in texts:
            yield [("Ripley", "PERSON"), ("1979", "DATE"), (self.made_of[0], "ORG")]


def test_spacy_goes_by_the_settings_of_the_tagger(monkeypatch):
    monkeypatch.setattr(passage_level, "SpacyTagger", ScriptedTagger)
    tagger = {"model": "small", "batch_size": 2, "skip_labels": ["DATE"]}
    annotate = passage_level.open_annotator({"method": "spacy"}, tagger, None, print)
    text = "Ripley in 1979"
    passage = Passage(
        passage_id="d#0", doc_id="d", title="T", heading=None, kind="text", ordinal=0, start=0, end=14, text=text
    )
    assert list(annotate([passage])) == [
        Annotation(passage_id="d#0", name=name, origin="passage") for name in ("Ripley", "small")
    ]


def test_an_unknown_method_is_refused():
    with pytest.raises(ValueError, match="method must be spacy"):
        passage_level.open_annotator({"method": "guess"}, {}, None, print)
