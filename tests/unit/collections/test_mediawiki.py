"""Exports of MediaWiki."""

import bz2
import gzip

import pytest

from calibrag.collections.reading import read_documents
from calibrag.errors import InputError
from calibrag.records import Document, Section, TextBlock

HEAD = '<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11"><siteinfo></siteinfo>'


def page(title, *texts, ns=0, redirect="", model="wikitext"):
    revisions = "".join(f"<revision><model>{model}</model><text>{text}</text></revision>" for text in texts)
    return f"<page><title>{title}</title><ns>{ns}</ns>{redirect}{revisions}</page>"


def export(path, *pages, tail="</mediawiki>"):
    data = (HEAD + "".join(pages) + tail).encode()
    opener = {".bz2": bz2.compress, ".gz": gzip.compress}.get(path.suffix, bytes)
    path.write_bytes(opener(data))
    return str(path)


@pytest.mark.parametrize("name", ["wiki.xml", "wiki.xml.bz2", "wiki.xml.gz", "wiki.xml-p1p41242.bz2"])
def test_articles_are_taken_and_all_else_is_counted(tmp_path, caplog, name):
    path = export(
        tmp_path / name,
        page("Alien (film)", "old", "'''Alien''' &amp; &lt;ref&gt;x&lt;/ref&gt; crew."),
        page("Alien", "#REDIRECT [[Alien (film)]]"),
        page("Aliens!", "x", redirect='<redirect title="Aliens" />'),
        page("Talk:Alien", "talk", ns=1),
        page("Alien.css", "p {}", model="css"),
        page("Blank", "{{stub}}"),
    )
    assert list(read_documents("mediawiki", path)) == [
        Document(
            doc_id="Alien_(film)",
            title="Alien (film)",
            sections=[Section(blocks=[TextBlock(text="Alien & crew.")])],
        )
    ]
    assert "redirects: 2 left out, such as Alien, Aliens!" in caplog.text
    assert "pages that are no articles: 2 left out, such as Talk:Alien, Alien.css" in caplog.text
    assert "pages without text: 1 left out, such as Blank" in caplog.text


def test_pages_of_one_title_are_refused(tmp_path):
    path = export(tmp_path / "wiki.xml", page("A", "x"), page("B", "y"), page("A", "z"))
    with pytest.raises(InputError, match=r"wiki\.xml: doc_id: 'A' is the id of two documents: page 1 and page 3"):
        list(read_documents("mediawiki", path))


@pytest.mark.parametrize(
    "text, message",
    [
        ("<page><title>B</title></pagE>", r"wiki\.xml:1: no well-formed XML after page 1 \(.*mismatch"),
        (page("B", "x") + "<page><title>", r"no well-formed XML after page 2"),
        ("<page><ns>0</ns></page>", r"title: page 2 has no title"),
        ("\x01", r"no well-formed XML after page 1"),
    ],
)
def test_broken_xml_is_refused_with_the_last_whole_page(tmp_path, text, message):
    path = export(tmp_path / "wiki.xml", page("A", "x"), text)
    with pytest.raises(InputError, match=message):
        list(read_documents("mediawiki", path))


def test_a_cut_off_export_is_refused_after_its_last_whole_page(tmp_path):
    path = export(tmp_path / "wiki.xml", page("A", "x"), page("B", "x"), tail="")
    documents = read_documents("mediawiki", path)
    with pytest.raises(InputError, match="no well-formed XML after page 2"):
        list(documents)
    for name in ("wiki.xml.bz2", "wiki.xml.gz"):
        path = export(tmp_path / name, *(page(f"P{number}", f"{number} text") for number in range(500)))
        (tmp_path / name).write_bytes((tmp_path / name).read_bytes()[:-30])
        with pytest.raises(InputError, match=f"{name}: unreadable: cut off or damaged"):
            list(read_documents("mediawiki", path))


def test_entities_of_an_export_are_not_expanded(tmp_path):
    path = tmp_path / "wiki.xml"
    bomb = '<!DOCTYPE m [<!ENTITY a "ha"><!ENTITY b "&a;&a;"><!ENTITY f SYSTEM "file:///etc/hostname">]>'
    path.write_text(f"{bomb}<mediawiki>{page('A', 'x &b; &f; y')}</mediawiki>")
    (document,) = read_documents("mediawiki", str(path))
    assert document.sections[0].blocks[0].text == "x"


def test_another_xml_file_is_no_export(tmp_path):
    (tmp_path / "other.xml").write_text("<a/>")
    with pytest.raises(InputError, match="holds no <page>: is it a MediaWiki export"):
        list(read_documents("mediawiki", str(tmp_path / "other.xml")))


def test_pages_are_streamed(tmp_path):
    path = export(tmp_path / "wiki.xml", *(page(f"P{number}", "text " * 2000) for number in range(20)), tail="<broken")
    documents = read_documents("mediawiki", path)
    assert next(documents).title == "P0"
