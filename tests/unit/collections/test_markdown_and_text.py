"""Markdown and plain text."""

import pytest

from calibrag.collections.reading import read_documents
from calibrag.errors import InputError
from calibrag.records import Section, TableBlock, TextBlock


@pytest.fixture
def read(tmp_path):
    def read(text, form="markdown", name="a_page.md"):
        (tmp_path / name).write_text(text, encoding="utf-8")
        (document,) = read_documents(form, str(tmp_path / name))
        return document

    return read


def test_markdown_becomes_sections_lists_tables_and_code(read):
    document = read("""# *Alien* &amp; Aliens

A [film](http://x.org) of `1979`,
by **Ridley Scott**.<br>Long <i>ago</i>.

## Cast

1. Weaver
   - Ripley
2. Hurt

| Actor | Role |
|---|:--:|
| Hurt | *Kane* |

### Code

```python
def f():
    return 1
```

> quoted

![A ship](x.png)

<div>raw <b>HTML</b></div>
""")
    assert (document.doc_id, document.title) == ("a_page", "Alien & Aliens")
    assert document.sections == [
        Section(blocks=[TextBlock(text="A film of 1979, by Ridley Scott. Long ago.")]),
        Section(
            heading="Cast",
            blocks=[
                TextBlock(text="Weaver\nRipley\nHurt"),
                TableBlock(header=["Actor", "Role"], rows=[["Hurt", "Kane"]]),
            ],
        ),
        Section(
            heading="Cast – Code",
            blocks=[
                TextBlock(text="def f():\n    return 1"),
                TextBlock(text="quoted"),
                TextBlock(text="A ship"),
                TextBlock(text="raw HTML"),
            ],
        ),
    ]


def test_front_matter_names_the_title(read, tmp_path):
    document = read("---\ntitle: The *title*\ntags: [a]\n---\n# Heading\n\ntext\n")
    assert document.title == "The *title*"
    assert document.sections == [Section(heading="Heading", blocks=[TextBlock(text="text")])]
    assert read("---\nbetween rules\n\n---\n").sections[0].blocks[0].text == "between rules"
    (tmp_path / "bad.md").write_text("---\na: [\n---\nx")
    with pytest.raises(InputError, match=r"bad\.md: the front matter is no YAML"):
        list(read_documents("markdown", str(tmp_path / "bad.md")))


def test_the_file_names_a_page_without_a_heading(read):
    assert read("text").title == "a page"


def test_ten_thousand_rows_are_read(read):
    document = read("| A | B |\n|---|---|\n" + "".join(f"| {number} | x |\n" for number in range(10_000)))
    (table,) = document.sections[0].blocks
    assert [row[0] for row in table.rows] == [str(number) for number in range(10_000)]


def test_a_blank_line_ends_a_paragraph_of_plain_text(read):
    document = read("One\n  line.\r\n\r\nTwo &amp; <b>.\n \t\n\n\fThree", "text", "Alien_(film).txt")
    assert (document.doc_id, document.title) == ("Alien_(film)", "Alien (film)")
    assert [block.text for block in document.sections[0].blocks] == ["One line.", "Two &amp; <b>.", "Three"]


def test_a_line_of_five_megabytes_is_read(read):
    assert len(read("word " * 1_000_000, "text", "long.txt").sections[0].blocks[0].text) == 4_999_999


def test_text_that_is_not_utf8_is_refused_with_its_offset(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"caf\xe9")
    with pytest.raises(InputError, match=r"a\.txt: not valid utf-8 at byte 3 \(0xe9\)"):
        list(read_documents("text", str(tmp_path / "a.txt")))
