"""The pages' HTML: what each event shows, and that text from corpora and models stays text."""

import base64
import hashlib
import re

import lxml.html
import msgspec
import pytest
from gold_labels import gold_labels
from hypothesis import given, settings
from hypothesis import strategies as st
from traced_questions import HOSTILE, PASSAGES, QRELS, QUESTIONS, RIGHT, RUNS, TRACES, hostile, passage, question

from calibrag.errors import CalibragError
from calibrag.reporting import trace_pages
from calibrag.reporting.escaping import visible
from calibrag.reporting.trace_pages import highlighted, write_trace_pages
from calibrag.reporting.trace_views import file_name

NAMES = dict(collection="film", system="bitem", verified_entailment=0.5, digits=3)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages") / "pages"
    write_trace_pages(folder, QUESTIONS, TRACES, RUNS, RIGHT, PASSAGES, QRELS, **NAMES)
    return folder


def parse(path):
    return lxml.html.document_fromstring(path.read_bytes(), parser=lxml.html.HTMLParser(encoding="utf-8"))


@pytest.fixture(scope="module")
def page(folder):
    return parse(folder / "q" / "q-right.html")


def said(element) -> str:
    """Return the texts of an element with one space between."""
    return " ".join(" ".join(element.itertext()).split())


def events(page, kind, number=1):
    return page.xpath(f'//section[@id="pass-{number}"]//li[contains(@class, "event {kind}")]')


# --- events --------------------------------------------------------------------------------------


def test_events_stand_in_the_order_of_the_trace_each_with_its_turn_and_its_name(page):
    shown = page.xpath('//section[@id="pass-1"]//li[starts-with(@class, "event ")]')
    kinds = [type(event).__struct_config__.tag for event in TRACES["q-right"][0].events]
    assert [item.get("class").split()[1] for item in shown] == kinds
    for item, event in zip(shown, TRACES["q-right"][0].events, strict=True):
        assert f"turn {event.turn}" in said(item.find(".//h3"))
        assert item.find(".//h3").xpath(".//*[local-name()='use']"), "an icon"


def test_a_search_shows_query_graph_and_its_hits_with_scores_sources_grades_and_what_was_recorded_later(page):
    [search] = events(page, "search")
    assert "director of The Quiet Man" in said(search)
    assert "the graph joins The Quiet Man John Ford" in said(search)
    assert "4 hits, 2 gold" in said(search)
    first, second, third, fourth = map(said, search.xpath(".//details[@class='hit']/summary"))
    assert first == "The Quiet Man Lead Quiet_Man#0 gold 2 n2 8.250 lexical dense"
    assert second == "Ford Ford#0 gold 1 7.000 dense"
    assert third == "John Wayne Wayne#0 n1 retracted 5.750 graph"
    assert fourth.endswith("4.500 lexical")
    assert "beside it: The Quiet Man Awards Quiet_Man#1" in said(search)


def test_a_search_by_name_shows_the_names_with_their_counts(page):
    [search] = events(page, "entity_search")
    assert "1 passage carries it, 1 name in it" in said(search)
    assert "John Wayne 3" in said(search)


def test_a_reading_shows_its_sentences_and_what_chose_them(page):
    [reading] = events(page, "read")
    assert "1 sentence, chosen by entailment" in said(reading)
    assert "directed by John Ford." in said(reading)


def test_a_reader_shows_its_candidates_the_most_probable_first_with_bars(page):
    reader, _ = events(page, "model")
    assert [said(row) for row in reader.xpath(".//table//th")] == ["John Ford", "Wayne", "1952", "Ireland", "four"]
    labels = [bar.get("aria-label") for bar in reader.xpath(".//*[local-name()='svg'][@role='img']")]
    assert labels[0] == "probability 0.640 of 1"
    assert len(labels) == 5


def test_a_chat_model_shows_what_it_was_told_what_it_said_and_what_that_took(page):
    _, chat = events(page, "model")
    for part in (
        "I know enough.",
        "calls answer",
        '{"text": "John Ford"',
        "840 characters",
        "2 messages",
        "1,520 tokens 1,400 in 120 out cost 0.00123 ended: tool_calls",
        "3 attempts 1 broke the schema replayed from the cache",
        "The system prompt abababababab … lies",
    ):
        assert part in said(chat)


def test_a_long_text_is_cut_and_the_page_says_how_much_more_there_is(page):
    _, chat = events(page, "model")
    longest = max(chat.xpath(".//div[contains(@class, 'text')]"), key=lambda text: len(text.text_content()))
    assert len(longest.text_content()) == trace_pages.SHOWN
    assert f"{10 * 3000 - trace_pages.SHOWN:,} more characters stand in the trace" in said(chat)


def test_a_record_shows_its_quotes_in_the_passage_its_entailment_and_the_threshold(page):
    *_, record = events(page, "record")
    assert [mark.text_content() for mark in record.xpath(".//mark")] == ["directed and pro-\nduced by John Ford"]
    assert said(record.find(".//div")).startswith("The Quiet Man is a 1952")
    assert "n2 verified by the second model entailment 0.910 wanted 0.5" in said(record)
    assert record.xpath(".//*[local-name()='svg'][@role='img']/@aria-label") == ["entailment 0.910 of 1, threshold 0.5"]


def test_a_record_that_failed_says_why_and_which_quote_is_not_there(page):
    invented, unsupported, _ = events(page, "record")
    assert "not verified these quotes do not stand in Quiet_Man#0" in said(invented)
    assert "not in the passage a film by John Huston" in said(invented)
    assert "retracted later" in said(unsupported) and "0.120 wanted 0.5" in said(unsupported)
    assert "failed" in invented.get("class").split()


def test_a_retraction_says_whether_it_was_accepted(page):
    accepted, rejected = events(page, "retract")
    assert "n1 withdrawn" in said(accepted)
    assert "n9 rejected no nugget 'n9'" in said(rejected)


def test_the_gate_shows_each_condition_with_what_it_wanted_and_what_it_got(page):
    back, accepted = events(page, "gate")
    assert "turned back confidence 0.050" in said(back)
    assert [said(item).split(":")[0] for item in back.xpath(".//ul/li")] == [
        "passages passes",
        "format passes",
        "evidence fails",
        "confidence fails",
    ]
    assert "wanted: at least 0.2" in said(back)
    assert "accepted confidence 0.620" in said(accepted)


def test_an_error_shows_the_call_with_its_arguments_and_the_problem(page):
    [error] = events(page, "error")
    assert "search the query must not be empty" in said(error)
    assert '{"query": "", "neighbours": 0}' in said(error)


def test_a_fallback_names_its_source_pass_and_links_to_it(page):
    refusal, fallback = events(page, "answer", 3)
    assert "refuses to answer" in said(refusal)
    assert fallback.xpath(".//a[@data-pass-link]/@href") == ["#pass-1"]
    assert "a fallback does not pass the gate" in said(events(page, "gate", 3)[1])


def test_a_pass_shows_answer_confidence_rule_numbers_stop_reason_exclusions_and_usage(page):
    first, third, fourth = (page.get_element_by_id(f"pass-{n}") for n in (1, 3, 4))
    head = said(first.xpath(".//div[@class='about']")[0])
    for part in (
        "John Ford confidence 0.620 answer accepted turned back: John Wayne 0.050",
        "rule noisy_or_evidence nugget entailment overlap evidence n2 0.910 1.000 0.910 support 0.910",
        "share of full evidence 0.667 discount for answers turned back 0.900",
        "11 turns, 2 searches",
        "seconds 2.3 cost 0.0012",
    ):
        assert part in head
    assert "Quiet_Man#0 gold 2 recorded by pass 1" in said(third)
    assert "Gone#4" in said(third)
    assert "not run: the last two passes were unsure" in said(fourth)


def test_the_head_shows_gold_answers_and_what_is_filed(page):
    head = said(page.xpath("//main/dl")[0])
    assert head.startswith("gold John Ford filed as AC-1 right John Ford 0.620 pass-1 turn 11 filed as AC-2 right")
    assert head.endswith("type bridge qid q-right passes disagree")


def test_pages_link_to_those_before_and_after_and_to_the_index(folder, page):
    assert page.get_element_by_id("after").get("href") == "q-wrong.html"
    assert page.get_element_by_id("before").get("href") is None
    assert page.get_element_by_id("up").get("href") == "../index.html"


def test_the_index_has_a_row_a_question_with_what_filters_and_orders_need(folder):
    index = parse(folder / "index.html")
    rows = index.xpath("//tbody/tr")
    assert [row.get("data-qid") for row in rows] == [visible(one.qid) for one in QUESTIONS]
    assert dict(rows[0].attrib) == {
        "data-kinds": "right disagree",
        "data-place": "1",
        "data-qid": "q-right",
        "data-type": "bridge",
        "data-filed": "John Ford",
        "data-confidence": "0.62",
        "data-searches": "2",
        "data-turns": "15",
        "data-nuggets": "2",
    }
    for row in rows:
        assert (folder / row.find(".//a").get("href")).is_file()
    assert [said(button) for button in index.xpath("//button[@data-show]")[:4]] == [
        "all 15",
        "right 10",
        "wrong 1",
        "refused 2",
    ]


# --- hostile text --------------------------------------------------------------------------------


def active(page):
    """Return what a browser would run or load: scripts, handlers, foreign elements, links that are not ours."""
    found = page.xpath("//script | //iframe | //object | //embed | //img | //base | //form[@action] | //link")
    handlers = page.xpath("//@*[starts-with(name(), 'on') or name() = 'style' or name() = 'src' or name() = 'srcdoc']")
    links = [href for href in page.xpath("//@href") if not re.fullmatch(r"#[\w-]+|(\.\./|q/)?[a-z0-9_~-]+\.html", href)]
    own = [element for element in found if element.tag == "script" and element.text.startswith("// Filters, order")]
    return [element for element in found if element not in own], handlers, links, len(own)


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_hostile_text_makes_no_element_no_handler_and_no_link(folder, number):
    qid = QUESTIONS[6 + number].qid
    page = parse(folder / "q" / file_name(qid))
    assert active(page) == ([], [], [], 1)
    assert page.xpath("//main//h1")[0].text_content() == visible(QUESTIONS[6 + number].text)
    assert active(parse(folder / "index.html")) == ([], [], [], 1)


# what a record can hold: msgspec reads and writes no lone surrogate
any_text = st.text(st.characters(codec="utf-8"), max_size=60) | st.sampled_from(HOSTILE)


@settings(max_examples=25, deadline=None)
@given(text=any_text)
def test_any_text_is_shown_letter_by_letter_wherever_it_comes_from(tmp_path_factory, text):
    folder = tmp_path_factory.mktemp("any")
    asked = question("q", text, text, type=text)
    store = {"p#0": passage("p#0", text, text, heading=text)}
    made = hostile("q", text, "p#0")
    write_trace_pages(folder, [asked], {"q": [made]}, {}, gold_labels([asked], {"q": [made]}).right, store, {}, **NAMES)
    for path in (folder / "index.html", folder / "q" / "q.html"):
        assert active(parse(path)) == ([], [], [], 1)
    page = parse(folder / "q" / "q.html")
    wanted = visible(text)
    shown = [element.text_content() for element in page.xpath("//*[contains(@class, 'data')]")]
    # question, answers, query, names, sentences, claims, calls, prompts: all of them
    assert shown.count(wanted) >= (15 if text else 0)
    assert page.xpath("//section[@class='corpus']//div")[0].text_content() == wanted


@given(st.text(st.characters(codec=None), max_size=60) | st.sampled_from(HOSTILE))
def test_what_is_made_visible_holds_nothing_unseen_and_other_text_is_left_alone(text):
    shown = visible(text)
    assert not re.search(
        "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028\u2029\ufeff\ud800-\udfff]", shown
    )
    plain = "".join(character for character in text if character.isalnum() or character == " ")
    assert visible(plain) == plain
    assert visible(shown) == shown


def test_unseen_characters_are_written_out():
    assert visible("a\u202eb\0c\r\nd\re\U000e0041\ud800 \u0645\u200d") == (
        "a⟨U+202E⟩b⟨U+0000⟩c\nd⟨U+000D⟩e⟨U+E0041⟩⟨U+D800⟩ \u0645\u200d"
    )


@given(st.text(max_size=80), st.lists(st.text(max_size=8), max_size=4))
def test_marks_change_no_letter_of_a_passage(text, quotes):
    element = lxml.html.fragment_fromstring(f"<div>{highlighted(text, [*quotes, text[3:20]])}</div>")
    assert element.text_content() == visible(text)


def test_overlapping_quotes_become_one_mark():
    assert highlighted("one two <three> four", ["two <three>", "<three> four", "none of it"]) == (
        "one <mark>two &lt;three&gt; four</mark>"
    )


def test_the_policy_lets_only_the_pages_own_script_and_style_act(folder):
    for path in (folder / "index.html", folder / "q" / "q-right.html"):
        page = parse(path)
        policy = page.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")[0]
        assert policy.startswith("default-src 'none'; ")
        for tag in ("style", "script"):
            [element] = page.xpath(f"//{tag}")
            digest = base64.b64encode(hashlib.sha256(element.text.encode()).digest()).decode()
            assert f"{tag}-src 'sha256-{digest}'" in policy
        assert "unsafe" not in policy
        # before the policy stands nothing that could act
        assert [child.tag for child in page.head][:2] == ["meta", "meta"]


# --- files ---------------------------------------------------------------------------------------


def test_pages_are_made_anew_and_are_the_same_each_time(tmp_path):
    folder = tmp_path / "pages"
    sizes = [write_trace_pages(folder, QUESTIONS, TRACES, RUNS, RIGHT, PASSAGES, QRELS, **NAMES)]
    first = {path.name: path.read_bytes() for path in folder.rglob("*.html")}
    (folder / "q" / "old.html").touch()
    sizes.append(write_trace_pages(folder, QUESTIONS, TRACES, RUNS, RIGHT, PASSAGES, QRELS, **NAMES))
    assert {path.name: path.read_bytes() for path in folder.rglob("*.html")} == first
    assert sizes == [sum(map(len, first.values()))] * 2


def test_traces_of_other_questions_are_refused(tmp_path):
    with pytest.raises(CalibragError, match="questions that film does not have"):
        write_trace_pages(tmp_path / "pages", QUESTIONS[1:], TRACES, RUNS, RIGHT, PASSAGES, QRELS, **NAMES)


def test_the_pages_of_a_trace_do_not_depend_on_whether_it_was_written_to_disk(tmp_path, folder):
    again = {
        qid: [msgspec.json.decode(msgspec.json.encode(one), type=type(one)) for one in passes]
        for qid, passes in TRACES.items()
    }
    write_trace_pages(tmp_path / "pages", QUESTIONS, again, RUNS, RIGHT, PASSAGES, QRELS, **NAMES)
    assert (tmp_path / "pages/q/q-right.html").read_bytes() == (folder / "q/q-right.html").read_bytes()
