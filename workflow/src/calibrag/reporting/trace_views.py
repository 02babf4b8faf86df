"""What a page about a question shows, gathered from its traces, the corpus and the judgements."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple

from calibrag.corpus.store import PassageStore
from calibrag.evaluation.labels import Right
from calibrag.normalisation import answer_key
from calibrag.records import Passage, Question
from calibrag.trace import (
    AnswerEvent,
    EntitySearchEvent,
    ErrorEvent,
    GateEvent,
    Nugget,
    ReadEvent,
    RecordEvent,
    RetractEvent,
    RunEntry,
    SearchEvent,
    Trace,
    TraceEvent,
)

_PLAIN_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,79}")
_NAME_CHARACTERS = 40
# what Windows keeps for itself
_DEVICES = re.compile(r"con|prn|aux|nul|(com|lpt)[0-9]")


class Filed(NamedTuple):
    """An answer run's entry for the question; ``entry`` None: every pass failed, so that nothing is filed."""

    run: str
    entry: RunEntry | None
    verdict: str


class Ground(NamedTuple):
    """The numbers below a confidence: a row of them for each nugget, and those about all of them.

    ``columns`` are the names of the numbers that nuggets have; a nugget may lack one.
    """

    columns: list[str]
    nuggets: dict[str, dict[str, float]]
    rest: dict[str, float]


class PassView(NamedTuple):
    """A pass and what is read out of it.

    Parameters
    ----------
    verdict
        ``right``, ``wrong``, ``refused``, ``none`` (no answer was accepted), ``error`` or ``skipped``.
    gate
        The last ruling on an answer, which the numbers shown come from; on a refusal, if there is nothing else.
    ground
        Its numbers.
    recorded
        Passage -> the nuggets that this pass recorded from it.
    excluded
        Passage that the pass must not see -> the earlier passes that recorded it.
    turns
        The last turn.
    """

    trace: Trace
    verdict: str
    gate: GateEvent | None
    ground: Ground
    recorded: dict[str, list[Nugget]]
    excluded: dict[str, list[int]]
    turns: int

    @property
    def retracted(self) -> set[str]:
        """The nuggets that the pass took back."""
        return {nugget.nugget_id for nugget in self.trace.nuggets if nugget.retracted}


class QuestionView(NamedTuple):
    """A question with its passes, in their order.

    Parameters
    ----------
    file
        Name of its page.
    filed
        What the answer runs file, in their order; [] where there is no run.
    disagree
        Whether two passes give answers whose normalised forms differ; refusals are no answers.
    """

    question: Question
    file: str
    passes: list[PassView]
    filed: list[Filed]
    disagree: bool

    @property
    def verdict(self) -> str:
        """That of the first answer run: ``right``, ``wrong``, ``refused``, or ``missing``."""
        return self.filed[0].verdict if self.filed else "missing"

    @property
    def kinds(self) -> list[str]:
        """The filters that show this question."""
        failed = any(view.trace.status == "error" for view in self.passes)
        return [self.verdict, *["disagree"] * self.disagree, *["errors"] * failed]


class PassageView(NamedTuple):
    """A passage of a question's page; ``passage`` None: the corpus does not hold it.

    ``grade`` is None where the question has no judgement of it; ``quotes`` are all that any pass took from it.
    """

    number: int
    passage: Passage | None
    grade: int | None
    quotes: list[str]


def view_question(
    question: Question,
    traces: Sequence[Trace],
    entries: Mapping[str, RunEntry | None],
    right: Right,
) -> QuestionView:
    """Return what is shown of a question, its traces in the order of the passes, and what the answer runs file of it.

    An entry None: the run lacks the question. ``right`` takes a qid and an answer, and says whether it is right.
    """
    filed = [
        Filed(run, entry, _judge(question.qid, entry.answer, right) if entry else "missing")
        for run, entry in entries.items()
    ]
    answers = {answer_key(trace.answer) for trace in traces if trace.answer is not None}
    passes = [_view_pass(trace, traces[:before], right) for before, trace in enumerate(traces)]
    return QuestionView(question, file_name(question.qid), passes, filed, len(answers) > 1)


def _judge(qid: str, answer: str | None, right: Right) -> str:
    return "refused" if answer is None else "right" if right(qid, answer) else "wrong"


def _view_pass(trace: Trace, earlier: Sequence[Trace], right: Right) -> PassView:
    gates = [event for event in trace.events if isinstance(event, GateEvent)]
    # a refusal has no numbers: those of the answer that was turned back before it say more
    gate = max(reversed(gates), key=lambda ruling: bool(ruling.numbers), default=None)
    recorded: dict[str, list[Nugget]] = {}
    for nugget in trace.nuggets:
        recorded.setdefault(nugget.passage_id, []).append(nugget)
    return PassView(
        trace=trace,
        verdict=_verdict(trace, right),
        gate=gate,
        ground=ground(gate.numbers if gate else {}, [nugget.nugget_id for nugget in trace.nuggets]),
        recorded=recorded,
        excluded={passage_id: _recorded_by(passage_id, earlier) for passage_id in trace.excluded},
        turns=max((event.turn for event in trace.events), default=0),
    )


def _verdict(trace: Trace, right: Right) -> str:
    if trace.status != "ok":
        return trace.status
    if trace.answer is None and not any(submission.accepted for submission in trace.submissions):
        return "none"
    return _judge(trace.qid, trace.answer, right)


def _recorded_by(passage_id: str, earlier: Sequence[Trace]) -> list[int]:
    return [t.pass_number for t in earlier if any(nugget.passage_id == passage_id for nugget in t.nuggets)]


def ground(numbers: Mapping[str, float], nugget_ids: Sequence[str]) -> Ground:
    """Return the numbers of a confidence apart; ``n2 overlap`` belongs to nugget ``n2``."""
    columns: dict[str, None] = {}
    nuggets: dict[str, dict[str, float]] = {}
    rest: dict[str, float] = {}
    for name, value in numbers.items():
        owner, _, column = name.partition(" ")
        if column and owner in nugget_ids:
            columns[column] = None
            nuggets.setdefault(owner, {})[column] = value
        else:
            rest[name] = value
    return Ground(list(columns), nuggets, rest)


def view_passages(view: QuestionView, store: PassageStore, grades: Mapping[str, int]) -> dict[str, PassageView]:
    """Return the passages that a question's traces mention, by id, in the order in which they come up."""
    quotes: dict[str, list[str]] = {}
    for trace in (shown.trace for shown in view.passes):
        for event in trace.events:
            for passage_id in _mentioned(event):
                quotes.setdefault(passage_id, [])
            if isinstance(event, RecordEvent):
                quotes[event.passage_id] += event.quotes
        for passage_id in trace.excluded:
            quotes.setdefault(passage_id, [])
    return {
        passage_id: PassageView(
            number, store[passage_id] if passage_id in store else None, grades.get(passage_id), quotes[passage_id]
        )
        for number, passage_id in enumerate(quotes, start=1)
    }


def _mentioned(event: TraceEvent) -> Iterable[str]:
    match event:
        case SearchEvent():
            for hit in event.hits:
                yield hit.passage_id
                yield from event.neighbours.get(hit.passage_id, ())
        case EntitySearchEvent():
            yield from (hit.passage_id for hit in event.hits)
        case ReadEvent() | RecordEvent():
            yield event.passage_id
        case AnswerEvent():
            yield from event.passage_ids


class Summary(NamedTuple):
    """What the index says of all questions: counts, and what made the traces.

    ``models``, ``releases`` and ``settings`` hold every value that the traces name, mostly one.
    """

    collection: str
    system: str
    n: int
    passes: int
    n_error: int
    n_skipped: int
    counts: dict[str, int]
    models: dict[str, list[str]]
    releases: list[str]
    settings: list[str]


FILTERS = ("all", "right", "wrong", "refused", "missing", "disagree", "errors")
"""What the index's buttons show, in their order."""


def summarise(collection: str, system: str, views: Sequence[QuestionView]) -> Summary:
    """Return the head of the index."""
    traces = [shown.trace for view in views for shown in view.passes]
    made = [trace.provenance for trace in traces if trace.provenance is not None]
    models: dict[str, dict[str, None]] = {}
    for provenance in made:
        for part, model in provenance.models.items():
            models.setdefault(part, {})[model] = None
    kinds = [kind for view in views for kind in view.kinds]
    return Summary(
        collection=collection,
        system=system,
        n=len(views),
        passes=len(traces),
        n_error=sum(trace.status == "error" for trace in traces),
        n_skipped=sum(trace.status == "skipped" for trace in traces),
        counts={name: len(views) if name == "all" else kinds.count(name) for name in FILTERS},
        models={part: list(names) for part, names in models.items()},
        releases=list(dict.fromkeys(provenance.release for provenance in made)),
        settings=list(dict.fromkeys(provenance.settings for provenance in made)),
    )


def file_name(qid: str) -> str:
    """Return the name of a question's page: safe on every file system and in a URL, and different for each qid.

    A qid of lower-case letters, digits, ``-`` and ``_`` stays; any other keeps what it has of these and gets a hash
    behind a ``~``, which no qid that stays can hold.
    """
    if _PLAIN_NAME.fullmatch(qid) and not _DEVICES.fullmatch(qid):
        return f"{qid}.html"
    readable = re.sub(r"[^a-z0-9_-]+", "_", qid.lower())[:_NAME_CHARACTERS]
    return f"{readable}~{sha256(qid.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}.html"


def is_failed_call(event: TraceEvent) -> bool:
    """Return whether an event is a call that was turned down."""
    match event:
        case ErrorEvent():
            return True
        case RecordEvent():
            return not event.verified
        case RetractEvent() | GateEvent():
            return not event.accepted
        case _:
            return False
