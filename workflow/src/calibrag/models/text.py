"""How a passage is put to a model that reads text: one form for training and for use."""

from __future__ import annotations


def passage_text(title: str, heading: str | None, text: str) -> str:
    """Return the text of a passage as a cross-encoder reads it: title, heading where there is one, contents.

    A passage seldom repeats what its page is about, so the title and heading go first; they also survive
    the cut at the model's maximal length. A heading that repeats the title is left out.
    """
    parts = [title.strip()]
    if heading and heading.strip() and heading.strip() != parts[0]:
        parts.append(heading.strip())
    parts.append(text.strip())
    return " . ".join(part for part in parts if part)
