"""Names of passages, with a scripted tagger."""

import pytest

from calibrag.corpus import annotation
from calibrag.corpus.annotation import annotate, clean_name, distinct_names
from calibrag.records import Annotation, Passage


class ScriptedTagger:
    """Finds the capitalised words; years are dates."""

    def names(self, texts):
        for text in texts:
            yield [(w, "DATE" if w.isdigit() else "PERSON") for w in text.split() if w[0].isupper() or w.isdigit()]


def passage(ordinal, text):
    return Passage(
        passage_id=f"d#{ordinal}",
        doc_id="d",
        title="Title",
        heading=None,
        kind="text",
        ordinal=ordinal,
        start=0,
        end=len(text),
        text=text,
    )


def test_names_come_once_a_passage_in_order_of_first_mention(monkeypatch):
    monkeypatch.setattr(annotation, "_PASSAGES", 2)
    passages = [passage(0, "Ripley met Kane and Ripley's cat in 1979"), passage(1, "nobody"), passage(2, "Ripley")]
    assert list(annotate(passages, ScriptedTagger(), {"DATE"})) == [
        Annotation(passage_id="d#0", name="Ripley", origin="passage"),
        Annotation(passage_id="d#0", name="Kane", origin="passage"),
        Annotation(passage_id="d#2", name="Ripley", origin="passage"),
    ]


@pytest.mark.parametrize(
    "mention, name",
    [
        ("the  Golden\nBell Awards", "Golden Bell Awards"),
        ("Ripley's", "Ripley"),
        ("the Beatles'", "Beatles"),
        ('the "Journal of Optics"', "Journal of Optics"),
        ("U.S.", "U.S."),
        ("Sammy Davis Jr.", "Sammy Davis Jr."),
        ("Alien (1979", "Alien"),
        ("(Kane", "Kane"),
        ("Kane)", "Kane"),
        ("Zoo (TV series)", "Zoo (TV series)"),
        ("Jo-Ann O'Hara.", "Jo-Ann O'Hara"),
        ("The Who", "Who"),
        ("The", "The"),
        ("1979", ""),
        ("- ?", ""),
        ("A", ""),
        ("", ""),
    ],
)
def test_names_are_cleaned_at_their_ends(mention, name):
    assert clean_name(mention) == name


def test_a_mention_over_a_cell_border_is_two_names_and_case_does_not_matter():
    assert distinct_names(["Ripley | Kane", "RIPLEY", "Ash |"]) == ["Ripley", "Kane", "Ash"]
