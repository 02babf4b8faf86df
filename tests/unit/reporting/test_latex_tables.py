"""LaTeX tables: any text comes back as it went in, every row has its cells, wide tables go on in further parts."""

import re
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from calibrag.reporting.captions import Caption
from calibrag.reporting.escaping import latex, plain
from calibrag.reporting.latex import WIDTH, latex_table
from calibrag.reporting.tables import write_table

HOSTILE = [
    r"\ { } $ & # ^ _ ~ %",
    r"\input{/etc/passwd} \write18{rm -rf} \end{longtable}",
    "a & b \\\\ [3pt] % the rest & more",
    "[3pt]",
    "* -- --- '' ``",
    "line one\n\nline two\tthree\r",
    '100 % of $x_1^2$ ~ 5 #3 <b>|</b> "quoted"',
    "Đặng Łódź naïve 東京 🎬 \u202e\x00",
    "\\",
    "}{",
]
NAMED = {
    "textbackslash": "\\", "textasciicircum": "^", "textasciitilde": "~", "textasciigrave": "`",
    "textless": "<", "textgreater": ">", "textbar": "|",
}  # fmt: skip
TOKEN = re.compile(
    r"\\symbol\{34\}|\\(?P<name>[a-z]+)\{\}|\\(?P<escaped>[{}$&#_%])|\{(?P<group>[\[\]*?])\}|(?P<empty>\{\})"
    r"|(?P<plain>[^\\{}$&#^_~%])"
)


def shown(text):
    """Return what LaTeX would set, read token by token; anything beyond the escapes fails."""
    out, at = [], 0
    while at < len(text):
        token = TOKEN.match(text, at)
        assert token, f"not a token: {text[at : at + 20]!r}"
        parts = token.groupdict()
        if parts["name"]:
            out.append(NAMED[parts["name"]])
        elif parts["group"]:
            out.append("\N{REPLACEMENT CHARACTER}" if parts["group"] == "?" else parts["group"])
        elif parts["escaped"] or parts["plain"]:
            out.append(parts["escaped"] or parts["plain"])
        elif not parts["empty"]:
            out.append('"')
        at = token.end()
    return "".join(out)


def rows_of(table):
    """Return the cells of each row, split at the & that are not escaped, by part."""
    return [
        [re.split(r" (?<!\\)& ", row.removesuffix(r" \\")) for row in re.findall(r"^.* \\\\$", part, re.M)]
        for part in re.findall(r"\\endfoot\n(.*?)\\end\{longtable\}", table, re.S)
    ]


def balanced(text):
    depth = 0
    for brace in re.findall(r"(?<!\\)(?:\\\\)*([{}])", text):
        depth += 1 if brace == "{" else -1
        if depth < 0:
            return False
    return depth == 0


@given(st.text())
@example(" ".join(HOSTILE))
def test_text_comes_back_as_it_went_in(text):
    assert shown(latex(text)) == " ".join(plain(text).split())


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_of_a_text_can_begin_a_command_or_an_argument(text):
    escaped = latex(text)
    assert balanced(escaped)
    assert not escaped.startswith(("[", "*"))
    assert not re.search(r"--|''|``|\n", escaped)
    assert set(re.findall(r"\\([a-zA-Z]+)", escaped)) <= {*NAMED, "symbol"}


@settings(deadline=None)
@given(st.lists(st.text(), min_size=1, max_size=3))
@example(HOSTILE)
def test_every_row_has_its_cells(texts):
    frame = pd.DataFrame({"a": texts, "b": range(len(texts))})
    table = latex_table(frame, {"a": "a & b", "b": "% n"}, Caption("{", notes=texts), 3, 2)
    [rows] = rows_of(table)
    assert [len(row) for row in rows] == [2] * len(texts)
    assert [shown(row[0]) for row in rows] == [" ".join(plain(text).split()) for text in texts]
    assert balanced(table)


def test_a_table_by_hand():
    frame = pd.DataFrame(
        {
            "run": ["AC-1", "four_pass"],
            "n": [1200, 64],
            "ob": [-0.25, np.nan],
            "ob_low": [-0.33, np.nan],
            "ob_high": [0.488, np.nan],
            "gated": [True, False],
        }
    )
    headings = {"run": "run", "n": "n", "ob": "R_O", "gated": "gated"}
    table = latex_table(frame, headings, Caption("Runs", {"film": 64}), 3, 2)
    assert table[table.index(r"\begin{longtable}") :] == (
        "\\begin{longtable}{lrrr}\n"
        "\\caption{\\textbf{Runs} n: film 64 questions.}\\\\\n"
        "\\toprule\nrun & n & R\\_O & gated \\\\\n\\midrule\n\\endfirsthead\n"
        "\\toprule\nrun & n & R\\_O & gated \\\\\n\\midrule\n\\endhead\n"
        "\\bottomrule\n\\endfoot\n"
        "AC-1 & 1,200 & $-$.250 [$-$.33, .49] & yes \\\\\n"
        "four\\_pass & 64 & --- & no \\\\\n"
        "\\end{longtable}\n\\endgroup\n"
    )


def wide():
    measures = {f"m{i}": [0.5, 0.25] for i in range(12)}
    return pd.DataFrame({"collection": "film", "run": ["AC-1", "AC-2"]} | measures).assign(
        **{f"m{i}{end}": 0.1 for i in range(12) for end in ("_low", "_high")}
    )


def test_a_wide_table_goes_on_under_its_leading_columns():
    columns = ["collection", "run", *(f"m{i}" for i in range(12))]
    table = latex_table(wide(), {name: name for name in columns}, Caption("Wide", notes=["Made so."]), 3, 3)
    parts = rows_of(table)
    assert len(parts) > 1
    heads = re.findall(r"\\toprule\n(.*) \\\\\n\\midrule\n\\endhead", table)
    assert [name for head in heads for name in head.split(" & ")[2:]] == columns[2:]
    for head, rows in zip(heads, parts, strict=True):
        assert head.startswith("collection & run & ")
        assert sum(max(map(len, cells)) + 2 for cells in zip(*rows, strict=True)) <= WIDTH
    assert table.count("Made so.") == 1
    assert f"Part {len(parts)} of {len(parts)}." in table


def test_long_text_is_broken_into_lines():
    frame = pd.DataFrame({"a": ["word " * 30], "n": [1]})
    assert r"\begin{longtable}{p{14em}r}" in latex_table(frame, {"a": "a", "n": "n"}, Caption("x"), 3, 3)


def test_a_heading_without_a_column_is_refused():
    with pytest.raises(KeyError, match="hmr"):
        latex_table(pd.DataFrame({"a": [1]}), {"hmr": "HMR"}, Caption("x"), 3, 2)


def test_a_file_of_an_unknown_kind_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"\.csv, \.md, \.tex"):
        write_table(pd.DataFrame({"a": [1]}), [tmp_path / "t.docx"], {"a": "a"}, Caption("x"), 3, 2)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no pdflatex; apt-get install texlive-latex-recommended")
def test_latex_sets_what_it_is_given(tmp_path):
    latin = [text for text in HOSTILE if "東" not in text]
    frame = wide().iloc[[0] * len(latin)].assign(run=latin)
    columns = ["collection", "run", *(f"m{i}" for i in range(12))]
    write_table(frame, [tmp_path / "t.tex"], {c: c for c in columns}, Caption("a_b", notes=latin), 3, 3)
    page = r"\documentclass[a4paper]{article}\usepackage{booktabs,longtable}\begin{document}\input{t.tex}\end{document}"
    (tmp_path / "page.tex").write_text(page)
    command = ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "page.tex"]
    for _ in range(2):
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stdout[-2000:]
    assert "root:" not in done.stdout
