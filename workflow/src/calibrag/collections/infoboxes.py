"""Named parameters of an infobox, or of a template that stands by itself, to a table."""

from __future__ import annotations

import re
from collections.abc import Mapping

from calibrag.collections.page import squeeze
from calibrag.collections.tables import Cell, lay_out
from calibrag.collections.wikinames import FILE_NAME, SETTING, is_table_template, is_unseen_parameter
from calibrag.records import TableBlock, TextBlock

# parameters that label another: (their name, what they may label)
_LABELS = (
    (re.compile(r"(.+)[_ ](?:title|type)(\d*)"), ("{0}_name{1}", "{0}_date{1}", "{0}_data{1}", "{0}{1}")),
    (re.compile(r"(blank\d*)_name(_sec\d+)?"), ("{0}_info{1}", "{0}_info")),
    (re.compile(r"(.+)_label()"), ("{0}", "{0}_data", "{0}_value")),
    (re.compile(r"label(\d+)()"), ("data{0}",)),
)
_NUMBERED = re.compile(r"(.*[^\d_ ][_ ]?)(\d+)")


def parameter_table(name: str, values: Mapping[str, str]) -> list[TextBlock | TableBlock]:
    """Return the table of what a reader sees of a template's named parameters.

    An infobox has a row a parameter: its label (``leader_title1`` of ``leader_name1``), else its name, and its value.
    Parameters of another template that are numbered in series (``title1``, ``length1``, ``title2``, ...) have a row
    a number.

    Parameters
    ----------
    name
        The template's, in lower case.
    values
        The parameters as plain text.
    """
    values = {key: value for key, value in values.items() if value and not key.isdecimal()}
    series = {} if is_table_template(name) else _series(values)
    stems = list(dict.fromkeys(stem for row in series.values() for stem in row))
    if len(series) < 2 or len(stems) < 2:
        return lay_out(_rows(values), is_infobox=True)
    header = [Cell(stem.replace("_", " "), is_header=True) for stem in stems]
    body = [[Cell(row.get(stem, "")) for stem in stems] for _, row in sorted(series.items())]
    others = {key: value for key, value in values.items() if not _NUMBERED.fullmatch(key)}
    return lay_out(_rows(others), is_infobox=True) + lay_out([header, *body])


def _rows(values: Mapping[str, str]) -> list[list[Cell]]:
    labels = _labels(values)
    return [
        [Cell(values[labels[key]] if key in labels else squeeze(key.replace("_", " "))), Cell(value)]
        for key, value in values.items()
        if key not in labels.values()
        and not is_unseen_parameter(key)
        and not FILE_NAME.fullmatch(value)
        and not SETTING.fullmatch(value)
    ]


def _labels(values: Mapping[str, str]) -> dict[str, str]:
    """Return labelled parameter -> the one that labels it."""
    labels = {}
    for key in values:
        for pattern, targets in _LABELS:
            if found := pattern.fullmatch(key):
                parts = [part or "" for part in found.groups()]
                target = next((one for form in targets if (one := form.format(*parts)) in values), None)
                if target is not None:
                    labels[target] = key
                    break
    return labels


def _series(values: Mapping[str, str]) -> dict[int, dict[str, str]]:
    """Return number -> stem -> value."""
    series: dict[int, dict[str, str]] = {}
    for key, value in values.items():
        if found := _NUMBERED.fullmatch(key):
            series.setdefault(int(found[2]), {})[found[1].rstrip("_ ")] = value
    return series
