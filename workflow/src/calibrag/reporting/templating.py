"""Static pages from templates: every value escaped, nothing loaded, and only our own style and script in force."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from calibrag.reporting.escaping import visible

TEMPLATES = Path(__file__).with_name("templates")


def environment() -> jinja2.Environment:
    """Return the templates: every value escaped, its unseen characters written out; a missing one is an error."""
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_shown_value,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _shown_value(value: Any) -> Any:
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def write_page(path: Path, template: jinja2.Template, **values: Any) -> int:
    """Write a page and return how many bytes it has."""
    return path.write_bytes(template.render(values).encode("utf-8"))


def own_files(**parts: Sequence[str]) -> dict[str, Markup | str]:
    """Return each part, such as ``style``, made of these files, which are ours and no data, and as ``style_hash`` the
    hash under which it may act."""
    files: dict[str, Markup | str] = {}
    for name, names in parts.items():
        text = "".join((TEMPLATES / file).read_text(encoding="utf-8") for file in names)
        files[name] = Markup(text)
        files[f"{name}_hash"] = "sha256-" + base64.b64encode(sha256(text.encode()).digest()).decode()
    return files
