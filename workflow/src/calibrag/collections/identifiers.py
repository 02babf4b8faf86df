"""Document ids that fit run files: reversible escapes for whitespace, semicolons and the escape sign itself."""

from __future__ import annotations

import re
from urllib.parse import quote, unquote

_UNFIT = re.compile(r"[\s;%]")


def escape_id(name: str) -> str:
    """Return ``name`` with whitespace, ``;`` and ``%`` percent-encoded; ``unescape_id`` gives it back."""
    return _UNFIT.sub(lambda match: quote(match.group(), safe=""), name)


def unescape_id(doc_id: str) -> str:
    """Return the name that ``escape_id`` was given."""
    return unquote(doc_id)


def title_to_id(title: str) -> str:
    """Return an id for a title, Wikipedia's way: spaces become ``_``, a literal ``_`` becomes ``%5F``."""
    return escape_id(title).replace("_", "%5F").replace("%20", "_")


def id_to_title(doc_id: str) -> str:
    """Return the title that ``title_to_id`` was given."""
    return unescape_id(doc_id.replace("_", "%20"))
