"""Collections of documents and questions: readers of each format, and the splits of the shipped ones."""

from __future__ import annotations

from calibrag.collections.jsonl import read_collection

READERS = {"jsonl": read_collection}
"""Readers by format name. Each takes (documents, questions, split, limit, seed)."""
