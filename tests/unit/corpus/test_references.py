"""Document-level names: each kind of reference on hand-made documents, and what holds for any document."""

from hypothesis import given
from hypothesis import strategies as st

from calibrag.corpus.naming.references import RULES, assign, refer
from calibrag.records import Passage

FILM = "Batman is a 1989 American superhero film directed by Tim Burton and produced by Jon Peters."
FILM_NAMES = ["Batman", "American", "Tim Burton", "Jon Peters"]
ACTRESS = "Ella Summer Purnell (born 17 September 1996) is an English actress. She was born in London."
CLUB = "Bristol Rovers Football Club are a professional football club in Bristol, England."


def passage(ordinal, text, title, kind="text", doc_id="d"):
    return Passage(
        passage_id=f"{doc_id}#{ordinal}",
        doc_id=doc_id,
        title=title,
        heading=None,
        kind=kind,
        ordinal=ordinal,
        start=0,
        end=len(text),
        text=text,
    )


def found(title, lead, lead_names, text, names=(), kind="text", rules=RULES):
    """Return (name, rule, words) of the second passage of a document."""
    passages = [passage(0, lead, title), passage(1, text, title, kind)]
    _, second = refer(passages, {"d#0": lead_names, "d#1": names}, rules)
    return [tuple(reference[1:]) for reference in second]


def in_film(text, names=(), **options):
    return found("Batman (1989 film)", FILM, FILM_NAMES, text, names, **options)


def test_a_surname_refers_to_the_full_name_mentioned_before():
    assert in_film("Fans doubted Burton at first.", ["Burton"]) == [("Tim Burton", "partial_name", "Burton")]


def test_a_surname_that_two_names_share_refers_to_neither():
    lead_names = ["Orville Wright", "Wilbur Wright"]
    lead = "The Flyer is an aircraft of Orville Wright and Wilbur Wright."
    assert found("Flyer", lead, lead_names, "Later Wright flew.", ["Wright"], rules=["partial_name"]) == []


def test_a_surname_inside_another_full_name_is_not_the_first_ones():
    assert in_film("Later LeVar Burton and Burton met.", ["LeVar Burton", "Burton"], rules=["partial_name"]) == []
    about = ("Ella Purnell", ACTRESS, ["Ella Summer Purnell"])
    assert found(*about, "Later Jim Purnell came.", ["Jim Purnell"]) == []
    assert found(*about, "Later Purnell came.") == [("Ella Purnell", "partial_name", "Purnell")]


def test_the_rest_of_a_place_name_is_no_short_form():
    lead = "Batman is a film of Sony Music Colombia about New Orleans."
    names = ["Sony Music Colombia", "New Orleans"]
    assert found("Batman", lead, names, "Orleans and Colombia.", ["Orleans", "Colombia"], rules=["partial_name"]) == []


def test_a_year_before_a_name_makes_no_other_name():
    names, text = ["2010 Australian Open"], "The Australian Open is held each year."
    assert found("Tennis", "See the 2010 Australian Open.", names, text, ["Australian Open"]) == []


def test_a_table_lends_no_names():
    table = passage(0, "Role | Actor\nTim | LeVar Burton", "Zoo", "table")
    later = passage(1, "Burton was there.", "Zoo")
    assert list(assign([table, later], {"d#0": ["LeVar Burton"], "d#1": ["Burton"]}, ["partial_name"], 5)) == []


def test_the_short_form_of_a_team_refers_to_its_full_name():
    lead, names = "The Green Bay Packers are an American football team.", ["Green Bay Packers"]
    text = "In 1933 the Packers moved."
    assert found("Green Bay Packers", lead, names, text, ["Packers"]) == [
        ("Green Bay Packers", "partial_name", "Packers")
    ]


def test_the_season_of_a_team_is_about_the_team():
    lead = "The 2011 New Orleans Saints season was the franchise's 45th season."
    text = "The Saints lost to Detroit."
    (first, *_) = found("2011 New Orleans Saints season", lead, [], text, ["Saints", "Detroit"])
    assert first == ("New Orleans Saints", "partial_name", "Saints")


def test_a_noun_of_the_definition_refers_to_the_subject_and_so_does_its_synonym():
    assert in_film("The film was a success.") == [("Batman", "description", "The film")]
    assert in_film("Critics liked the movie.") == [("Batman", "description", "the movie")]
    assert in_film("Critics liked the superhero film.") == [("Batman", "description", "the superhero film")]
    assert in_film("Critics liked the novel.") == []


def test_a_noun_that_something_else_narrows_down_refers_to_nothing():
    for text in (
        "The first film made money.",
        "The film Alien made money.",
        'The film "Alien" made money.',
        "The film that came before made money.",
        "The film series made money.",
        "The original film made money.",
    ):
        assert in_film(text) == [], text


def test_a_title_before_a_name_describes_it_later():
    lead = "The Purge is an event that Governor Terry McAuliffe opened."
    expected = [("Terry McAuliffe", "description", "the governor")]
    assert found("Purge", lead, ["Terry McAuliffe"], "Later the governor resigned.") == expected
    # behind another name the noun may be about that one
    assert found("Purge", lead, ["Terry McAuliffe"], "When Ann Lee won, the governor resigned.", ["Ann Lee"]) == []


def test_a_person_is_referred_to_by_the_pronoun_that_the_document_uses():
    about = ("Ella Purnell", ACTRESS, ["Ella Summer Purnell", "London"])
    assert found(*about, "In 2016 she starred in Churchill.", ["Churchill"]) == [("Ella Purnell", "pronoun", "she")]
    assert found(*about, "Danny Elfman said that she won.") == [("Ella Purnell", "pronoun", "she")]
    assert found(*about, "Her role was praised.") == [("Ella Purnell", "pronoun", "Her")]
    assert found(*about, "In 2016 he starred in Churchill.", ["Churchill"]) == []
    assert found(*about, "It was praised.") == []


def test_it_refers_to_a_thing_unless_a_name_stands_before_or_it_stands_for_a_clause():
    assert in_film("It received good reviews.") == [("Batman", "pronoun", "It")]
    assert in_film("Most notably, its score won a prize.") == [("Batman", "pronoun", "its")]
    assert in_film("The score of Danny Elfman won; it was long.", ["Danny Elfman"]) == []
    assert in_film("It was announced that a score would follow.") == []
    assert in_film("They received good reviews.") == []
    assert in_film("She received good reviews.") == []


def test_they_refers_to_a_group():
    about = ("Bristol Rovers F.C.", CLUB, ["Bristol Rovers Football Club", "Bristol", "England"])
    assert found(*about, "In 1990 they won.") == [("Bristol Rovers F.C.", "pronoun", "they")]
    assert found(*about, "The club won.") == [("Bristol Rovers F.C.", "description", "The club")]


def test_a_table_carries_the_subject_of_its_page():
    text = "Year | Title\n2017 | Churchill"
    about = ("Ella Purnell", ACTRESS, ["Ella Summer Purnell"])
    assert found(*about, text, ["Churchill"], kind="table") == [("Ella Purnell", "table", "")]
    assert found(*about, "Ella Purnell | 2017", ["Ella Purnell"], kind="table") == []
    assert found("List of films", "These are films.", [], text, kind="table") == []
    assert found("1929 in film", "These are films.", [], text, kind="table") == []


def test_a_passage_that_spells_the_name_out_gets_nothing():
    assert in_film("Batman is the film. It pleased Burton and Tim Burton.", ["Batman", "Burton", "Tim Burton"]) == []
    # the tagger need not have found it
    assert in_film("The film Batman was a success; the film made money.") == []
    assert in_film("Tim Burton came and Burton left.", ["Burton"]) == []


def test_a_name_inside_a_longer_one_is_not_spelled_out():
    text = "The film has a sequel, Batman Returns; critics liked Batman Returns."
    assert in_film(text, ["Batman Returns"]) == [("Batman", "description", "The film")]


def test_a_full_name_of_the_lead_spells_the_subject_out():
    about = ("Ella Purnell", ACTRESS, ["Ella Summer Purnell"])
    assert found(*about, "Ella Summer Purnell said that she left.", ["Ella Summer Purnell"]) == []


def test_a_rule_that_is_not_chosen_assigns_nothing():
    text, names = "The film was Burton's idea. It won.", ["Burton"]
    assert [rule for _, rule, _ in in_film(text, names)] == ["description", "partial_name"]
    assert [rule for _, rule, _ in in_film(text, names, rules=["pronoun"])] == []
    assert [rule for _, rule, _ in in_film("It won.", rules=["pronoun"])] == ["pronoun"]
    assert in_film(text, names, rules=[]) == []


def test_the_subject_comes_first_and_no_more_names_than_asked_for_are_assigned():
    passages = [passage(0, FILM, "Batman"), passage(1, "Burton and Peters liked the film.", "Batman")]
    names = {"d#0": FILM_NAMES, "d#1": ["Burton", "Peters"]}
    for at_most, expected in ((5, ["Batman", "Tim Burton", "Jon Peters"]), (1, ["Batman"])):
        annotations = list(assign(passages, names, RULES, at_most))
        assert [(a.passage_id, a.name, a.origin) for a in annotations] == [
            ("d#1", name, "document") for name in expected
        ]


WORDS = st.sampled_from(
    "Tim Burton Batman Returns the The film It it He his she they Packers Green Bay is was a director of , . (".split()
)
TEXTS = st.lists(WORDS, min_size=1, max_size=25).map(" ".join)
NAMES = ["Tim Burton", "Burton", "Batman", "Batman Returns", "Green Bay Packers", "Packers", "Bay"]


@st.composite
def documents(draw):
    title = draw(st.sampled_from(["Tim Burton", "Batman (film)", "List of films", "Green Bay Packers", "Returns"]))
    texts = draw(st.lists(TEXTS, min_size=1, max_size=4))
    kinds = [draw(st.sampled_from(["text", "table"])) for _ in texts]
    passages = [passage(n, text, title, kind) for n, (text, kind) in enumerate(zip(texts, kinds, strict=True))]
    names = {p.passage_id: [name for name in NAMES if f" {name} " in f" {p.text} "] for p in passages}
    return passages, names


@given(documents())
def test_every_name_stands_in_the_document_and_not_in_the_passage_and_the_result_is_the_same_again(document):
    passages, names = document
    annotations = list(assign(passages, names, RULES, 5))
    texts = {p.passage_id: p.text for p in passages}
    whole = " ".join([passages[0].title, *texts.values()])
    order = [p.passage_id for p in passages]
    assert [order.index(a.passage_id) for a in annotations] == sorted(order.index(a.passage_id) for a in annotations)
    assert len({(a.passage_id, a.name.casefold()) for a in annotations}) == len(annotations)
    for annotation in annotations:
        assert annotation.origin == "document"
        assert annotation.name in whole
        assert annotation.name not in names[annotation.passage_id]
    assert list(assign(passages, names, RULES, 5)) == annotations
