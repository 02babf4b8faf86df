"""How an answer becomes a claim that a passage may entail."""

from __future__ import annotations


def claim_text(question: str, answer: str) -> str:
    """Return question and answer as one claim, in the form that the shipped verifier was trained on."""
    return f"{' '.join(question.split()).rstrip(' ?.')}? Answer: {' '.join(answer.split())}"
