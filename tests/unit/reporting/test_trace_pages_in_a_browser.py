"""The pages in a headless Chromium, from the disk: filters, order, keys, phones, and hostile text that does nothing."""

import chromium
import pytest
from traced_questions import HOSTILE, PASSAGES, QRELS, QUESTIONS, RIGHT, RUNS, TRACES

from calibrag.reporting.trace_pages import write_trace_pages
from calibrag.reporting.trace_views import file_name

SCREEN = {"viewport": {"width": 1400, "height": 900}}
PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages") / "pages"
    names = dict(collection="film", system="bitem", verified_entailment=0.5, digits=3)
    write_trace_pages(folder, QUESTIONS, TRACES, RUNS, RIGHT, PASSAGES, QRELS, **names)
    return folder


@pytest.fixture(scope="module")
def browser():
    with chromium.opened() as browser:
        yield browser


class Tab:
    """A tab with a page of the folder, and all that it complained about."""

    def __init__(self, page, folder):
        self.page = page
        self.folder = folder
        self.complaints = []
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", lambda dialog: self.complaints.append(dialog.message) or dialog.dismiss())
        page.on("request", lambda request: request.url.startswith("file:") or self.complaints.append(request.url))

    def go(self, path="index.html"):
        self.page.goto((self.folder / path.partition("#")[0]).as_uri() + path[len(path.partition("#")[0]) :])
        return self

    def qids(self):
        return self.page.eval_on_selector_all("tbody tr:not([hidden])", "rows => rows.map(row => row.dataset.qid)")

    def hash(self):
        return self.page.evaluate("location.hash")

    def name(self):
        return self.page.url.partition("#")[0].rpartition("/")[2]

    def focused(self):
        return self.page.evaluate("document.activeElement.getAttribute('href') || document.activeElement.id")


@pytest.fixture(scope="module")
def contexts(browser):
    """A context for a screen of each size; a tab has a memory of its own."""
    return {name: browser.new_context(**size) for name, size in (("screen", SCREEN), ("phone", PHONE))}


@pytest.fixture
def tab(contexts, folder):
    yield from opened(contexts["screen"], folder)


@pytest.fixture
def phone(contexts, folder):
    yield from opened(contexts["phone"], folder)


def opened(context, folder):
    tab = Tab(context.new_page(), folder)
    yield tab
    assert tab.complaints == []
    tab.page.close()


# --- index ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["right", "wrong", "refused", "missing", "disagree", "errors"])
def test_a_filter_shows_as_many_questions_as_it_says_and_stands_in_the_address(tab, kind):
    tab.go()
    button = tab.page.locator(f"button[data-show={kind}]").first
    button.click()
    shown = tab.qids()
    assert len(shown) == int(button.locator(".count").inner_text()) > 0
    assert button.get_attribute("aria-pressed") == "true"
    assert tab.hash() == f"#show={kind}"
    assert tab.page.inner_text("#shown") == str(len(shown))
    tab.page.locator("button[data-show=all]").first.click()
    assert len(tab.qids()) == len(QUESTIONS) and tab.hash() == ""


def test_words_narrow_the_list_down_and_an_empty_list_offers_a_way_back(tab):
    tab.go()
    tab.page.fill("#find", "WAYNE born")
    assert tab.qids() == ["q-wrong"]
    assert tab.hash() == "#find=WAYNE+born"
    tab.page.fill("#find", "no such words")
    assert tab.qids() == [] and tab.page.is_visible(".nothing")
    tab.page.click(".nothing button")
    assert len(tab.qids()) == len(QUESTIONS) and tab.page.input_value("#find") == ""


def test_columns_sort_up_then_down_then_not_at_all_with_missing_values_last(tab):
    tab.go()
    confidence = "[data-sort=confidence]"
    tab.page.click(confidence)
    up = [float(value) for value in column(tab, "confidence") if value]
    assert up == sorted(up) and column(tab, "confidence")[-2:] == ["", ""]
    assert tab.page.get_attribute(f"th:has({confidence})", "aria-sort") == "ascending"
    tab.page.click(confidence)
    down = [float(value) for value in column(tab, "confidence") if value]
    assert down == up[::-1] and column(tab, "confidence")[-2:] == ["", ""]
    tab.page.click(confidence)
    assert column(tab, "place") == [str(n + 1) for n in range(len(QUESTIONS))]
    tab.page.click("[data-sort=qid]")
    assert tab.qids()[-6:] == ["q-failed", "q-limit", "q-none", "q-refused", "q-right", "q-wrong"]


def column(tab, name):
    return tab.page.eval_on_selector_all(f"tbody tr[data-{name}]", f"rows => rows.map(row => row.dataset.{name})")


def test_an_address_that_is_shared_shows_the_same_list(tab):
    tab.go("index.html#show=refused&sort=turns&down=1")
    assert tab.qids() == ["q-limit", "q-refused"]
    tab.page.evaluate("location.hash = '#find=wayne&sort=qid'")
    tab.page.wait_for_function("document.querySelector('#find').value === 'wayne'")
    assert tab.qids() == ["q-limit", "q-wrong"]


def test_an_address_with_unknown_words_shows_everything(tab):
    tab.go("index.html#show=%3Cscript%3E&sort=constructor&down=1")
    assert len(tab.qids()) == len(QUESTIONS)


def test_keys_move_find_open_and_explain(tab):
    tab.go()
    tab.page.keyboard.press("/")
    assert tab.focused() == "find"
    tab.page.keyboard.type("jk?")
    assert tab.page.input_value("#find") == "jk?"
    tab.page.fill("#find", "")
    tab.page.keyboard.press("Escape")
    for key, href in (("j", "q-right"), ("j", "q-wrong"), ("ArrowDown", "q-refused"), ("k", "q-wrong")):
        tab.page.keyboard.press(key)
        assert tab.focused() == f"q/{href}.html"
    tab.page.keyboard.press("?")
    assert tab.page.is_visible("#keys")
    tab.page.keyboard.press("Escape")
    assert not tab.page.is_visible("#keys")
    tab.page.keyboard.press("Enter")
    tab.page.wait_for_selector("body.question")
    assert tab.name() == "q-wrong.html"


def test_every_control_is_reached_by_tab_and_its_focus_is_seen(tab):
    tab.go()
    seen = set()
    for _ in range(24):
        tab.page.keyboard.press("Tab")
        seen.add(tab.page.evaluate("document.activeElement.textContent.trim().split(' ')[0]"))
        assert tab.page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    assert {"?", "all", "right", "errors", "qid", "Confidence", "Who"} <= seen


# --- a question ----------------------------------------------------------------------------------


def test_questions_follow_each_other_in_the_list_that_the_index_showed(tab):
    tab.go("index.html#find=wayne&sort=qid")
    tab.page.click("tbody tr:not([hidden]) a")
    tab.page.wait_for_selector("body.question")
    assert (tab.name(), tab.page.inner_text("#place")) == ("q-limit.html", "1 of 2 · wayne")
    tab.page.keyboard.press("j")
    tab.page.wait_for_url("**/q-wrong.html")
    assert tab.page.get_attribute("#after", "href") is None
    tab.page.keyboard.press("k")
    tab.page.wait_for_url("**/q-limit.html")
    tab.page.keyboard.press("u")
    tab.page.wait_for_selector("body.index")
    assert tab.qids() == ["q-limit", "q-wrong"]


def test_without_an_index_before_it_a_question_leads_through_all_of_them(tab):
    tab.go("q/q-right.html")
    tab.page.keyboard.press("ArrowRight")
    tab.page.wait_for_url("**/q-wrong.html")
    tab.page.keyboard.press("/")
    tab.page.wait_for_selector("body.index")
    assert tab.focused() == "find"


def test_quotes_are_seen_in_their_passage(tab):
    tab.go("q/q-right.html")
    marks = tab.page.locator("#pass-1 .event.record mark")
    assert [" ".join(text.split()) for text in marks.all_inner_texts()] == [
        "John Wayne acted",
        "directed and pro- duced by John Ford",
    ]
    assert marks.first.is_visible()
    assert marks.first.evaluate("mark => getComputedStyle(mark).backgroundColor") == "rgb(255, 233, 163)"


def test_the_text_of_a_hit_is_unfolded_where_it_stands(tab):
    tab.go("q/q-right.html")
    tab.page.click("#pass-1 .event.search > details > summary")
    hit = tab.page.locator("#pass-1 .event.search .hit").nth(1)
    hit.locator("summary").click()
    hit.locator(".text").wait_for()
    assert hit.locator(".text").inner_text().startswith("John Ford (February 1, 1894")


def test_a_pass_is_shown_by_itself_or_all_side_by_side(tab):
    tab.go("q/q-right.html")
    shown = "#pass-1:visible, #pass-2:visible, #pass-3:visible, #pass-4:visible"
    assert tab.page.locator(shown).count() == 4
    tops = tab.page.eval_on_selector_all(".pass", "parts => parts.map(part => part.getBoundingClientRect().top)")
    assert len(set(tops)) == 1
    tab.page.keyboard.press("2")
    assert tab.page.locator(shown).count() == 1 and tab.hash() == "#pass=2"
    tab.page.reload()
    assert tab.page.locator(shown).count() == 1
    tab.page.keyboard.press("0")
    assert tab.page.locator(shown).count() == 4
    tab.page.keyboard.press("3")
    tab.page.click("[data-pass-link]")
    assert tab.page.locator("#pass-1").is_visible()


def test_all_events_fold_and_unfold(tab):
    tab.go("q/q-right.html")
    opened = "document.querySelectorAll('.events details[open]:not(.hit)').length"
    tab.page.click("#fold")
    assert tab.page.evaluate(opened) == 0
    tab.page.keyboard.press("o")
    assert tab.page.evaluate(opened) == tab.page.evaluate(
        "document.querySelectorAll('.events details:not(.hit)').length"
    )


def test_paper_shows_what_is_folded(tab):
    tab.go("q/q-right.html")
    tab.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert tab.page.evaluate("document.querySelectorAll('details:not(.hit):not([open])').length") == 0
    tab.page.emulate_media(media="print")
    assert not tab.page.is_visible(".tools")
    tab.page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert tab.page.evaluate("document.querySelectorAll('details:not([open])').length") > 0


# --- phones, dark, hostile text ------------------------------------------------------------------

PATHS = ["index.html", *(f"q/{file_name(one.qid)}" for one in QUESTIONS)]


@pytest.mark.parametrize("path", PATHS, ids=range(len(PATHS)))
def test_a_phone_never_scrolls_sideways(phone, path):
    phone.go(path)
    phone.page.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true; })")
    assert phone.page.evaluate("document.documentElement.scrollWidth") == PHONE["viewport"]["width"]


def test_the_dark_is_dark(tab):
    tab.page.emulate_media(color_scheme="dark")
    tab.go()
    assert tab.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(21, 23, 26)"


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_hostile_text_runs_nothing_and_is_read_as_it_is(tab, number):
    asked = QUESTIONS[6 + number]
    tab.go(f"q/{file_name(asked.qid)}")
    tab.page.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true; })")
    for element in tab.page.locator(".data:visible").all()[:8]:
        element.hover()
    tab.page.mouse.move(0, 0)
    assert "RAN" != tab.page.title() and " · film · bitem" in tab.page.title()
    assert tab.page.locator("script").count() == 1
    if "\u202e" not in HOSTILE[number]:
        assert HOSTILE[number] in tab.page.locator("main h1").text_content()


def test_even_markup_that_broke_out_would_not_run(browser, folder):
    page = browser.new_page()
    blocked = []
    page.on("console", lambda message: blocked.append(message.text))
    page.goto((folder / "q/q-right.html").as_uri())
    title = page.title()
    page.evaluate(
        """() => {
          document.querySelector("main").insertAdjacentHTML("beforeend",
            `<img src=x onerror="document.title='RAN'"><a id=bad href="javascript:document.title='RAN'">x</a>`);
          const script = document.createElement("script");
          script.textContent = "document.title = 'RAN'";
          document.body.append(script);
          document.querySelector("#bad").click();
        }"""
    )
    page.wait_for_timeout(100)
    assert page.title() == title
    assert len([text for text in blocked if "Content Security Policy" in text]) >= 3
    page.close()
