"""Exporters: traces in formats that other tools read. A new one is one file here and one line in ``EXPORTERS``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from calibrag.reporting.exporters import inspect_ai, r2c2, trec_hops, trec_rag
from calibrag.reporting.exporters.material import Material

__all__ = ["EXPORTERS", "Material"]

EXPORTERS: dict[str, Callable[[Material, Path], None]] = {
    "r2c2": r2c2.export,
    "trec_hops": trec_hops.export,
    "trec_rag": trec_rag.export,
    "inspect_ai": inspect_ai.export,
}
"""Name -> exporter, which writes files of fixed names into a folder that is there."""
