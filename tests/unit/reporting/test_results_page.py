"""The results page: what it holds, what it leaves out, that names are data, and how it looks in a browser."""

import re
from html.parser import HTMLParser

import chromium
import pandas as pd
import pytest
from results_of import COLLECTIONS, READING, make_page
from scored_runs import MEASURES

from calibrag import experiments
from calibrag.reporting import findings
from calibrag.reporting.results_page import FIGURES, SECTIONS, write_results_page


class Page(HTMLParser):
    """Collects ids, links, tags and the text of a page, and what carries an inline style or handler."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.ids, self.links, self.tags, self.unsafe, self.text = set(), [], set(), [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.tags.add(tag)
        self.ids |= {values["id"]} if "id" in values else set()
        self.links += [values[name] for name in ("href", "src") if name in values]
        self.unsafe += [(tag, name) for name in values if name == "style" or name.startswith("on")]

    def handle_data(self, data):
        self.text += data


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("results")


@pytest.fixture(scope="module")
def path(folder):
    return make_page(folder, pages=[folder / "film/bitem/pages"])


@pytest.fixture(scope="module")
def page(path):
    return Page(path.read_text(encoding="utf-8"))


def test_every_table_and_figure_of_an_experiment_has_its_place():
    known = {name for section in SECTIONS for name in section.tables}
    named = {
        *experiments.TABLES,
        *experiments.RETRIEVAL_TABLES,
        *experiments.RUN_TABLES,
        *experiments.ANSWER_TABLES,
        "reader",
        "transfer",
    }
    assert named <= known
    assert len({section.title for section in SECTIONS}) == len(SECTIONS)
    assert set(experiments.FIGURES) == set(FIGURES) == {name for section in SECTIONS for name in section.figures}


def test_the_same_tables_make_the_same_bytes(path, tmp_path):
    assert make_page(tmp_path, pages=[tmp_path / "film/bitem/pages"]).read_bytes() == path.read_bytes()


def test_links_lead_to_files_that_are_there(path, page, folder):
    (folder / "film/bitem/pages").mkdir(parents=True, exist_ok=True)
    (folder / "film/bitem/pages/index.html").touch()
    for link in page.links:
        if link.startswith("#"):
            assert link[1:] in page.ids
        elif not link.startswith("data:image/svg+xml;base64,"):
            assert (path.parent / link).resolve().is_file(), link
    assert "bitem on film" in page.text


def test_sentences_hold_the_cells_of_the_tables(path, page):
    table = pd.read_csv(path.parent / "answer_runs.csv")
    best = table[table["collection"] == "open_<b>$"].nlargest(1, "accHMR").iloc[0]
    value = findings.shown(*findings.interval_of(best, "accHMR"), READING.digits)
    assert value in re.sub(r"\s+", " ", page.text)
    assert "film 60, open_<b>$ 40" in page.text


def test_names_from_files_are_data(page):
    assert not page.tags & {"b>", "script", "em>"}
    assert page.unsafe == []
    assert "Answer *runs*" in page.text and "open_<b>$" in page.text


def test_nothing_may_run_or_be_loaded(path):
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', path.read_text())[1]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "script-src" not in policy and "unsafe" not in policy
    assert "img-src data:;" in policy


def test_a_section_without_a_table_is_left_out(page):
    assert "What tells right answers" in page.text
    assert not {"retrieval", "ablations", "labels"} & page.ids


def test_a_table_that_no_section_names_is_shown_all_the_same(tmp_path):
    (tmp_path / "new.csv").write_text("a\n1\n")
    (tmp_path / "new.md").write_text("**New**\n\n|   a |\n| --: |\n|   1 |\n")
    write_results_page(tmp_path / "index.html", "e", [tmp_path / "new.csv"], [], [], {}, READING)
    assert "Further tables" in (tmp_path / "index.html").read_text()


def test_a_table_without_a_column_of_its_layout_is_an_error(tmp_path):
    (tmp_path / "signals.csv").write_text("collection,system,signal\nfilm,bitem,searches\n")
    with pytest.raises(KeyError, match="auroc"):
        write_results_page(tmp_path / "index.html", "e", [tmp_path / "signals.csv"], [], [], {}, READING)


@pytest.fixture(scope="module")
def browser():
    with chromium.opened() as running:
        yield running


@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (1200, "dark"), (390, "light")])
def test_a_browser_shows_it_without_complaint_or_sideways_scrolling(browser, path, width, scheme):
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    shown, complaints = context.new_page(), []
    shown.on("console", lambda message: complaints.append(message.text))
    shown.on("request", lambda request: complaints.append(request.url) if request.url.startswith("http") else None)
    shown.goto(path.as_uri())
    assert complaints == []
    assert shown.evaluate("document.documentElement.scrollWidth") <= width
    assert shown.evaluate("[...document.images].every((image) => image.naturalWidth > 0)")
    background = shown.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", background)[:3])) < 200) == (scheme == "dark")
    # every measure is in the table
    headings = shown.evaluate("[...document.querySelectorAll('th')].map((cell) => cell.textContent)")
    assert set(MEASURES) <= set(headings) and len(COLLECTIONS) == 2
    context.close()
