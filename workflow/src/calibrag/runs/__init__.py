"""Runs: what is filed of the traces, ranked passages (PG-*) and answers with confidence (AC-*)."""
