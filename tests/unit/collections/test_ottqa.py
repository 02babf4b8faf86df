"""OTT-QA's records to documents and questions."""

import pytest

from calibrag.collections import ottqa
from calibrag.corpus.chunking import render_row
from calibrag.errors import InputError
from calibrag.records import Document, Question, Section, Support, TableBlock, TextBlock

TABLE = {
    "table_id": "Nonso_Anozie_1",
    "title": "Nonso Anozie",
    "intro": "Nonso Anozie (born 1978) is an actor.",
    "section_title": "Filmography -- Television",
    "section_text": "Roles , in order .",
    "header": [["Year", []], ["Title", []]],
    "data": [
        [["2007", []], ["Prime Suspect 7 : The Final Act", ["/wiki/Prime_Suspect"]]],
        [["2016", []], ["A Midsummer Night 's Dream", ["/wiki/Dream;_a_film"]]],
    ],
}
ARTICLES = {
    "/wiki/Prime_Suspect": {
        "id": "/wiki/Prime_Suspect",
        "title": "Prime Suspect",
        "text": "Prime Suspect was devised by LYNDA La Plante .",
    },
    "/wiki/Dream;_a_film": {"id": "/wiki/Dream;_a_film", "title": "Dream", "text": "A play ."},
}


def entry(*nodes, answer="Lynda La Plante"):
    fields = ("where", "text", "cell", "passage_id")
    return {
        "id": "q1",
        "question": "Who created it , and when ?",
        "answer": answer,
        "table_id": "Nonso_Anozie_1",
        "answer_nodes": [dict(zip(fields, node, strict=True)) for node in nodes],
    }


def question(*nodes, **fields):
    return ottqa.question(entry(*nodes, **fields), {"Nonso_Anozie_1": TABLE}, ARTICLES, render_row, "dev")


def test_a_table_becomes_a_document_with_lead_section_and_table():
    assert ottqa.table_document(TABLE) == Document(
        doc_id="Nonso_Anozie_1",
        title="Nonso Anozie",
        sections=[
            Section(blocks=[TextBlock(text="Nonso Anozie (born 1978) is an actor.")]),
            Section(
                heading="Filmography – Television",
                blocks=[
                    TextBlock(text="Roles, in order."),
                    TableBlock(
                        header=["Year", "Title"],
                        rows=[["2007", "Prime Suspect 7: The Final Act"], ["2016", "A Midsummer Night's Dream"]],
                    ),
                ],
            ),
        ],
    )


def test_blank_lead_section_text_and_heading_are_left_out():
    document = ottqa.table_document({**TABLE, "intro": " ", "section_text": "", "section_title": ""})
    assert [(section.heading, len(section.blocks)) for section in document.sections] == [(None, 1)]


def test_an_article_becomes_one_text_under_an_id_that_fits_run_files():
    document = ottqa.article_document(ARTICLES["/wiki/Dream;_a_film"])
    assert document.doc_id == "Dream%3B_a_film"
    assert document.sections == [Section(blocks=[TextBlock(text="A play.")])]


def test_a_table_and_an_article_cannot_share_an_id():
    articles = [{"id": "/wiki/Nonso_Anozie_1", "title": "x", "text": "y"}]
    with pytest.raises(InputError, match="Nonso_Anozie_1 is the id of two documents"):
        list(ottqa.documents([TABLE], articles, "source"))


def test_a_node_in_a_cell_is_supported_by_its_row():
    assert question(("table", "2016", [1, 0], None), answer="2016") == Question(
        qid="q1",
        text="Who created it, and when?",
        answers=["2016"],
        support=[Support(doc_id="Nonso_Anozie_1", quote="2016 | A Midsummer Night's Dream")],
        split="dev",
    )


def test_a_node_in_an_article_is_supported_by_the_answer_as_it_stands_there_and_by_the_linking_row():
    assert question(("passage", "Prime Suspect", [0, 1], "/wiki/Prime_Suspect")).support == [
        Support(doc_id="Prime_Suspect", quote="LYNDA La Plante"),
        Support(doc_id="Nonso_Anozie_1", quote="2007 | Prime Suspect 7: The Final Act"),
    ]


def test_an_article_without_the_answer_is_quoted_at_its_name_or_whole():
    (named, _) = question(("passage", "Prime Suspect", [0, 1], "/wiki/Prime_Suspect"), answer="1991").support
    assert named == Support(doc_id="Prime_Suspect", quote="Prime Suspect")
    (whole, _) = question(("passage", "Dream", [1, 1], "/wiki/Dream;_a_film"), answer="1991").support
    assert whole == Support(doc_id="Dream%3B_a_film", quote=None)


def test_facts_that_nodes_share_are_listed_once():
    nodes = [("table", "2007", [0, 0], None), ("passage", "Prime Suspect", [0, 1], "/wiki/Prime_Suspect")]
    assert len(question(*nodes, *nodes).support) == 2
