"""Signals of effort: searches, calls, turns, the model's own words, tokens.

Seconds are none: they measure the machine, and what was cached, beside the question.
"""

from __future__ import annotations

from calibrag.confidence.signals.case import Case, in_pass, signal
from calibrag.evaluation.cost import tokens_of
from calibrag.normalisation import words
from calibrag.runs.single_pass import reasoning_turns
from calibrag.trace import EntitySearchEvent, ReadEvent, SearchEvent, Trace

NEAR_DUPLICATE = 0.8
"""Share of common words, of all distinct words of two queries (Jaccard), from which on they are near-duplicates."""


@in_pass("searches", "less", {"searches"})
def searches(trace: Trace) -> int:
    """Searches, those by name included."""
    return len(_queries(trace))


@in_pass("queries", "less", {"searches"})
def distinct_queries(trace: Trace) -> int:
    """Queries that differ in their words, case and punctuation aside."""
    return len(set(map(_normalised, _queries(trace))))


@in_pass("queries", "less", {"searches"})
def near_duplicate_queries(trace: Trace) -> int:
    """Queries that share at least 80 % of the distinct words with an earlier one of the pass, equal ones included."""
    queries = [set(words(query)) for query in _queries(trace)]
    return sum(any(_near(query, earlier) for earlier in queries[:i]) for i, query in enumerate(queries))


@signal("all passes", "queries", "less", {"searches"})
def distinct_queries_of_all_passes(case: Case) -> int:
    """Queries of all passes that differ in their words, case and punctuation aside."""
    return len({_normalised(query) for trace in case.ran for query in _queries(trace)})


@in_pass("calls", "less", {"calls"})
def tool_calls(trace: Trace) -> int:
    """Calls of tools, rejected ones included."""
    return trace.usage.tool_calls


@in_pass("calls", "less", {"calls"})
def rejected_calls(trace: Trace) -> int:
    """Calls that were rejected."""
    return trace.usage.rejected_calls


@in_pass("turns", "less", {"turns"})
def turns(trace: Trace) -> int:
    """Turns, which is the number of the last one."""
    return max((event.turn for event in trace.events), default=0)


@in_pass("readings", None, {"reads"})
def reads(trace: Trace) -> int:
    """Readings of passages."""
    return sum(isinstance(event, ReadEvent) for event in trace.events)


@in_pass("characters", "less", {"reasoning"})
def longest_reasoning(trace: Trace) -> int | None:
    """Longest turn of the model's own words; missing where it said nothing, as one that only scores candidates."""
    return max(reasoning_turns(trace), default=None)


@in_pass("characters", "less", {"reasoning"})
def total_reasoning(trace: Trace) -> int | None:
    """All turns of the model's own words together; missing where it said nothing."""
    return sum(reasoning_turns(trace)) or None


@signal("first pass", "characters", "less", {"reasoning"})
def longest_reasoning_of_first_pass(case: Case) -> int | None:
    """As longest_reasoning, of the first pass, whichever filed the answer."""
    return max(reasoning_turns(case.ran[0]), default=None)


@in_pass("tokens", "less", {"tokens"})
def tokens(trace: Trace) -> int | None:
    """Tokens of all model calls; missing where a server does not tell."""
    return tokens_of(trace)


@signal("all passes", "tokens", "less", {"tokens"})
def tokens_of_all_passes(case: Case) -> int | None:
    """Tokens of all model calls of all passes; missing where a server does not tell."""
    counts = [tokens_of(trace) for trace in case.ran]
    return None if None in counts else sum(counts)


def _queries(trace: Trace) -> list[str]:
    searched = (event for event in trace.events if isinstance(event, SearchEvent | EntitySearchEvent))
    return [event.query if isinstance(event, SearchEvent) else event.name for event in searched]


def _normalised(query: str) -> str:
    return " ".join(words(query))


def _near(one: set[str], two: set[str]) -> bool:
    return one == two or len(one & two) >= NEAR_DUPLICATE * len(one | two)


SIGNALS = (
    searches, distinct_queries, near_duplicate_queries, distinct_queries_of_all_passes, tool_calls, rejected_calls,
    turns, reads, longest_reasoning, total_reasoning, longest_reasoning_of_first_pass, tokens, tokens_of_all_passes,
)  # fmt: skip
