"""The single-pass rule: a pass that reasoned long about one step is unsure."""

from __future__ import annotations

import json
from statistics import median
from typing import Literal

from calibrag.runs.choices import REFUSAL, Choice, RuleSettings, Traces, answer_of, first
from calibrag.runs.same_answers import Same
from calibrag.trace import ModelEvent, Trace


def single_pass(traces: Traces, settings: RuleSettings, same: Same) -> dict[str, Choice]:
    """Single-pass rule: "AC-1's answers; 0 if the longest reasoning turn (characters) is at or above the median, else
    100. Where the median is taken (questions of the run set | all passes | given constant) is a parameter".

    The questions are those with a first pass; all passes are those of them that ran and whose reasoning is recorded. A
    refusal has confidence 0.
    """
    ran = {qid: [trace for trace in passes if _reasons(trace)] for qid, passes in traces.items()}
    ran = {qid: passes for qid, passes in ran.items() if first(passes)}
    limit = _limit(ran, settings.single_pass.median)
    choices = {}
    for qid, passes in ran.items():
        [trace] = first(passes)
        answer = answer_of(trace)
        choices[qid] = Choice(answer, float(longest_reasoning(trace) < limit)) if answer else REFUSAL
    return choices


def _reasons(trace: Trace) -> bool:
    return trace.status != "skipped" and (trace.recorded is None or "reasoning" in trace.recorded)


def _limit(ran: Traces, over: Literal["questions", "passes"] | float) -> float:
    if isinstance(over, str):
        counted = {"questions": first, "passes": list}[over]
        return median([longest_reasoning(trace) for passes in ran.values() for trace in counted(passes)] or [0])
    return over


def reasoning_turns(trace: Trace) -> list[int]:
    """Return how many characters the model wrote in each of its turns, its calls not counted, in their order.

    [] where no model wrote anything: a reader, which scores candidates, has no words of its own.
    """
    events = [event for event in trace.events if isinstance(event, ModelEvent) and event.purpose != "question type"]
    return [_characters(event) for event in events if event.text is not None or event.reasoning is not None]


def longest_reasoning(trace: Trace) -> int:
    """Return the characters of the longest of the `reasoning_turns`; 0 where there is none."""
    return max(reasoning_turns(trace), default=0)


def _characters(event: ModelEvent) -> int:
    """Return the characters of thought and text; of a turn by JSON schema, those of its field ``reasoning``."""
    text = event.text or ""
    try:
        turn = json.loads(text)
    except ValueError:
        turn = None
    if isinstance(turn, dict) and isinstance(turn.get("reasoning"), str):
        text = turn["reasoning"]
    return len(event.reasoning or "") + len(text)
