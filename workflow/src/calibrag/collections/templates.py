"""What a reader sees of the templates of wikitext that stand inside a line.

Their pages are not at hand, so that nothing is expanded: the common ones are known here by name, and any other
template with a single unnamed argument is taken for a wrapper around it. Not reproduced: converted values (the
value as written stays), today's ages, flags.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from calibrag.collections.page import ITEM

_MONTHS = (
    "January February March April May June July August September October November December".split()
)  # fmt: skip
_YES = ("y", "yes", "true", "1")


class Arguments:
    """The arguments of a template, rendered when they are asked for; a missing one is ''."""

    def __init__(self, named: Mapping[str, object], render: Callable[[object], str]):
        self._named = named
        self._render = render
        self._count = sum(name.isdecimal() for name in named)

    def __getitem__(self, name: str | int) -> str:
        value = self._named.get(str(name))
        return self._render(value).strip() if value is not None else ""

    def first(self, *names: str | int) -> str:
        """Return the first of these arguments that is not blank."""
        return next((value for name in names if (value := self[name])), "")

    @property
    def names(self) -> list[str]:
        """The names of the arguments, in order; those without one are numbered from 1."""
        return list(self._named)

    def positional(self) -> list[str]:
        """Return the arguments without a name that are not blank."""
        numbers = sorted((name for name in self._named if name.isdecimal()), key=int)
        return [value for name in numbers if (value := self[name])]

    @property
    def is_wrapper(self) -> bool:
        """Whether there is one argument, without a name."""
        return list(self._named) == ["1"]


def inline_text(name: str, arguments: Arguments) -> str | None:
    """Return what a template shows inside a line; None where it is not known here.

    Parameters
    ----------
    name
        In lower case, without the namespace, ``_`` as a space.
    """
    if name in _CONSTANTS:
        return _CONSTANTS[name]
    if name in _LAST:
        return (arguments.positional() or [""])[-1]
    if name in _DATES:
        return _date(name, arguments)
    if name in _SHOWN:
        return _SHOWN[name](arguments)
    if name.startswith(("lang-", "script/", "ipa-")):
        return arguments[1]
    if name.startswith("formatnum:"):
        return name.partition(":")[2]
    return None


def _day(year: str, month: str, day: str, day_first: bool) -> str:
    if month.isdecimal() and 1 <= int(month) <= 12:
        month = _MONTHS[int(month) - 1]
    if not month:
        return year
    if not day:
        return f"{month} {year}".strip()
    day = day.lstrip("0") or day
    if day_first or not year:
        return f"{day} {month} {year}".strip() if day_first else f"{month} {day}"
    return f"{month} {day}, {year}"


def _date(name: str, arguments: Arguments) -> str:
    """Return the date of {{birth date|1929|8|22}} and its like; the age at death where both dates are given."""
    year, month, day = (arguments[number] for number in (1, 2, 3))
    if len(day) == 4 and not len(year) == 4:  # German order: day, month, year
        year, day = day, year
    if year and not year.isdecimal():
        return year
    day_first = arguments["df"].lower() in _YES
    shown = _day(year, month, day, day_first)
    born = [arguments[number] for number in (4, 5, 6)]
    dates = [int(part) for part in (year, month, day, *born) if part.isdecimal()]
    if name.startswith("death") and "age" in name and len(dates) == 6:
        return f"{shown} (aged {dates[0] - dates[3] - (dates[1:3] < dates[4:])})"
    if name == "film date":
        # four arguments a release: year, month, day, place
        return ITEM.join(
            _day(*(arguments[number] for number in (at, at + 1, at + 2)), day_first)
            + (f" ({arguments[at + 3]})" if arguments[at + 3] else "")
            for at in range(1, len(arguments.names) + 1, 4)
            if arguments[at].isdecimal()
        )
    return shown


def _convert(arguments: Arguments) -> str:
    """Return the value as written, with its unit: {{convert|5|to|7|km|mi}}."""
    shown = []
    for part in arguments.positional():
        shown.append(part)
        if not re.fullmatch(r"[-+−\d.,/e ]+|to|x|by|and|or|[-–—×±*]|\+/-|to\(-\)|and\(-\)", part):
            break
    return " ".join(shown)


def _link(arguments: Arguments) -> str:
    return arguments[2] or re.sub(r"^https?://(www\.)?|/$", "", arguments[1])


def _nihongo(arguments: Arguments) -> str:
    aside = ", ".join(filter(None, (arguments[2], arguments[3], arguments[4])))
    return f"{arguments[1]} ({aside})" if aside else arguments[1]


def _height(arguments: Arguments) -> str:
    units = (("m", "m"), ("meter", "m"), ("cm", "cm"), ("ft", "ft"), ("in", "in"))
    return " ".join(f"{arguments[name]} {unit}" for name, unit in units if arguments[name])


def _joined(separator: str) -> Callable[[Arguments], str]:
    return lambda arguments: separator.join(arguments.positional())


def _nth(*names: str | int) -> Callable[[Arguments], str]:
    return lambda arguments: arguments.first(*names)


_CONSTANTS = {
    "!": "|", "=": "=", "(": "{", ")": "}", "!!": "||", "ndash": "–", "en dash": "–", "mdash": "—", "em dash": "—",
    "emdash": "—", "endash": "–", "snd": " – ", "spnd": " – ", "spaced ndash": " – ", "spaced en dash": " – ",
    "spaced mdash": " — ", "spaced em dash": " — ", "snds": " – ", "dash": " – ", "nbsp": " ", "space": " ",
    "spaces": " ", "thinsp": " ", "·": " · ", "dot": " · ", "middot": " · ", "•": " • ", "bull": " • ", "bullet": " • ",
    "\\": " / ", "'": "'", "' \"": "' \"", "-'": "'", "sic": "[sic]", "pi": "π", "0": "", "00": "", "increase": "▲",
    "decrease": "▼", "steady": "–", "reg": "®", "break": " ", "br": " ", "•w": " • ", "shy": "", "wbr": "", "zwsp": "",
    "pipe": "|", "times": "×", "x mark": "✗", "check mark": "✓", "aut": "", "dagger": "†", "double-dagger": "‡",
    "double dagger": "‡", "asterisk": "*", "hash": "#", "euro": "€", "₹": "₹", "peso": "₱",
}  # fmt: skip
_SPOKEN = ("lang", "local", "us", "uk", "pron", "audio", "also")
_LAST = frozenset({"lang", "transl", "transliteration", "font", "color", "font color", "colored link", "colour"})
_DATES = frozenset(
    f"{event} date{rest}"
    for event in ("birth", "death", "start", "end", "film", "launch", "release", "disestablished", "established")
    for rest in ("", " and age", " and given age")
) | {"dob", "birth-date and age", "death year and age", "birth year and age", "bda", "dda", "date of birth", "dts"}
_SHOWN: dict[str, Callable[[Arguments], str]] = {
    **dict.fromkeys(("convert", "cvt"), _convert),
    **dict.fromkeys(("url", "official url", "official website", "official"), _link),
    **dict.fromkeys(("nihongo", "nihongo2", "nihongo3", "nihongo foot"), _nihongo),
    **dict.fromkeys(("ubl", "ublist", "unbulleted list", "hlist", "bulleted list", "flatlist", "plainlist",
                     "br separated entries",
                     "plain", "ordered list", "cslist", "comma separated entries", "pagelist", "csv", "vunblist",
                     "plain list", "unordered list", "enum", "hidden"), _joined(ITEM)),  # fmt: skip
    **dict.fromkeys(("flag", "flagcountry", "flagu", "flag country", "flag+link", "flagdeco", "fb", "fbw", "nft", "ru",
                     "cr", "noflag"), _nth("name", 1)),  # fmt: skip
    **dict.fromkeys(("abbr", "tooltip", "abbrlink", "nowrap", "nobr", "small", "smaller", "big", "larger", "large",
                     "nobold", "resize", "no wrap", "longitem", "center", "left", "right", "align", "ipa", "ill",
                     "interlanguage link", "link", "vanchor", "visible anchor", "anchor text", "em", "strong", "code",
                     "tt", "mono", "var", "math", "mvar", "nastaliq", "nq", "title", "notatypo", "not a typo",
                     "as written", "proper name", "linktext", "isbn", "issn", "oclc", "doi", "usd", "rp name", "angle",
                     "user", "sup", "sub", "overline", "u", "strike", "keypress", "key press", "legend inline",
                     "oldstyledate", "birth-date", "death-date", "start-date", "end-date", "date", "datum",
                     "formatdate", "dunno", "party shortname", "baseball year", "scref", "val", "nts", "ntsh", "age",
                     "increase value", "nom", "won", "pending", "n/a", "longlink", "trim", "first word"),
                    _nth(1)),  # fmt: skip
    "as of": lambda arguments: arguments["alt"] or f"As of {_day(arguments[1], arguments[2], arguments[3], True)}",
    "circa": lambda arguments: "c. " + " – ".join(arguments.positional()),
    "c.": lambda arguments: "c. " + " – ".join(arguments.positional()),
    "height": _height,
    "won": lambda arguments: arguments.first(1, "award") or "Won",
    "nom": lambda arguments: arguments.first(1, "award") or "Nominated",
    "nominated": lambda arguments: arguments[1] or "Nominated",
    "yes": lambda arguments: arguments[1] or "Yes",
    "no": lambda arguments: arguments[1] or "No",
    "tba": lambda arguments: arguments[1] or "TBA",
    "n/a": lambda arguments: arguments[1] or "N/A",
    "sortname": lambda arguments: arguments["nolink"] * 0 + " ".join(filter(None, (arguments[1], arguments[2]))),
    "sortkeyname": _joined(" "),
    "sort": lambda arguments: arguments[2] or arguments[1],
    "hs": lambda arguments: "",
    "legend": lambda arguments: arguments[2],
    "wide image": lambda arguments: arguments[3],
    "version": lambda arguments: arguments[2],
    "frac": _joined("/"),
    "sfrac": _joined("/"),
    "fraction": _joined("/"),
    "ipac-en": lambda arguments: f"/{''.join(part for part in arguments.positional() if part not in _SPOKEN)}/",
    "zh": lambda arguments: ITEM.join(filter(None, map(arguments.__getitem__, ("t", "s", "c", "p", "b", "v")))),
    "us$": lambda arguments: f"US${arguments[1]}",
    "usd": lambda arguments: f"US${arguments[1]}",
    "gbp": lambda arguments: f"£{arguments[1]}",
    "inr": lambda arguments: f"₹{arguments[1]}",
    "eur": lambda arguments: f"€{arguments[1]}",
    "inrconvert": lambda arguments: f"₹{arguments[1]} {dict(c='crore', l='lakh').get(arguments[2], arguments[2])}",
    "nowrap begin": lambda arguments: "",
    "nowrap end": lambda arguments: "",
}  # fmt: skip
