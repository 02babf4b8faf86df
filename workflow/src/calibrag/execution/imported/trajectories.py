"""Trajectories in the notation of ReAct: a question, then steps of thought, action and observation, as text.

Yao et al., ReAct: Synergizing Reasoning and Acting in Language Models, ICLR 2023. What an environment says of a final
answer ("Answer is CORRECT"), and the gold answer that some logs append, are kept out of the traces.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from calibrag.execution.imported.logged import UNNAMED, answer
from calibrag.trace import (
    AnswerEvent,
    EntitySearchEvent,
    ErrorEvent,
    ModelEvent,
    ProposedCall,
    ReadEvent,
    SearchEvent,
    TraceEvent,
)

_LABEL = re.compile(r"^(ActionPath|Thought|Action|Observation) (\d+):[ \t]*", re.MULTILINE)
_CALL = re.compile(r"(\w+)\[(.*)\]", re.DOTALL)
_REFUSED = ("Invalid Action", "The last page")
_NOTHING = ("No Results", "No results", "No more results")


class Step(NamedTuple):
    """One step; ``path`` is KnowAgent's line of the actions so far, None in ReAct's own notation."""

    path: str | None
    thought: str
    action: str
    observation: str

    @property
    def call(self) -> tuple[str, str] | None:
        """Name and argument of the action; None where it is no call."""
        found = _CALL.fullmatch(self.action)
        return (found[1], found[2]) if found else None


def steps(text: str, question: str, with_path: bool) -> list[Step]:
    """Return the steps of a trajectory.

    Raises
    ------
    ValueError
        It does not begin with the question, or its labels do not follow each other as they must; says which.
    """
    head, *rest = _LABEL.split(text)
    if head.split() != f"Question: {question}".split():
        raise ValueError(f"must begin with 'Question: ' and the question of the line (got {head[:80]!r})")
    labels = (*(("ActionPath",) if with_path else ()), "Thought", "Action", "Observation")
    found = list(zip(rest[::3], rest[1::3], rest[2::3], strict=True))
    for position, (label, number, _) in enumerate(found):
        wanted = f"{labels[position % len(labels)]} {position // len(labels) + 1}"
        if f"{label} {number}" != wanted:
            raise ValueError(f"{wanted!r} must come next (got '{label} {number}')")
    if not found or len(found) % len(labels):
        raise ValueError(f"must hold whole steps of {', '.join(labels)} (ends in {len(found) % len(labels)} of them)")
    contents = [content.strip() for _, _, content in found]
    whole = [contents[start : start + len(labels)] for start in range(0, len(contents), len(labels))]
    made = [Step(*parts) if with_path else Step(None, *parts) for parts in whole]
    for number, step in enumerate(made[:-1], start=1):
        if step.call and step.call[0] == "Finish":
            raise ValueError(f"Action {number} finishes, and steps follow")
    return made


def events(question: str, made: list[Step]) -> list[TraceEvent]:
    """Return the events of the steps: what was thought before each call, and the call.

    ``Search`` is a search, ``Retrieve`` (a page by its name) one by name, ``Lookup`` a reading of the page that was
    found last, ``Finish`` the answer; what is no such call, or is refused by the environment, is an error. Logs name no
    passages, so that searches have no hits; what they returned is in what the model was told next.
    """
    listed: list[TraceEvent] = []
    told, page = question, ""
    for turn, step in enumerate(made, start=1):
        name, argument = step.call or ("", step.action)
        listed.append(
            ModelEvent(
                turn=turn - 1,
                model=UNNAMED,
                purpose="next call",
                sent=[told],
                text=step.path,
                reasoning=step.thought,
                calls=[ProposedCall(name=name, arguments=_json(argument))] if name else [],
            )
        )
        event = _event(turn, name, argument, step, page)
        if isinstance(event, SearchEvent | EntitySearchEvent):
            page = argument
        listed.append(event)
        told = step.observation
    return listed


def final(listed: list[TraceEvent]) -> str | None:
    """Return the answer that events end with; None where they end without one, or with a refusal."""
    return listed[-1].text if listed and isinstance(listed[-1], AnswerEvent) else None


def queries(made: list[Step], name: str) -> Iterator[str]:
    """Yield the arguments of all calls of this name."""
    yield from (step.call[1] for step in made if step.call and step.call[0] == name)


def _event(turn: int, name: str, argument: str, step: Step, page: str) -> TraceEvent:
    if name == "Finish":
        return answer(turn, argument)
    if not step.observation.startswith(_REFUSED):
        match name:
            case "Search":
                return SearchEvent(turn=turn, query=argument, hits=[])
            case "Retrieve":
                return EntitySearchEvent(turn=turn, name=argument, hits=[], names=[])
            case "Lookup":
                found = [] if step.observation.startswith(_NOTHING) else [step.observation]
                return ReadEvent(turn=turn, passage_id=page, question=argument, sentences=found, chosen_by="lexical")
    return ErrorEvent(turn=turn, call=name, problem=step.observation or "no such call", arguments=_json(argument))


def _json(argument: str) -> str:
    return msgspec.json.encode({"argument": argument}).decode()
