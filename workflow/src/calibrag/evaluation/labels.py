"""Which answers are right, and who said so: a match with gold answers, a person, or a model (spec/bitem section 7, 7).

The label of an answer is decided here and nowhere else. Answers that say the same (`normalisation.answer_key`) get one
label. Where sources disagree a person's word counts before a match, and a match before a model's word; what the log of
an import says of its answers decides nothing. Each disagreement is listed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from calibrag.errors import CalibragError
from calibrag.evaluation.judging import judge
from calibrag.normalisation import answer_key, words
from calibrag.records import Question, Record
from calibrag.trace import RunEntry, Trace

Source = Literal["review", "match", "judge", "undecided", "unsupported"]

DECIDING: tuple[Source, ...] = ("review", "match", "judge")
"""Sources that decide, the one that counts first."""

Place = tuple[str, str]
"""A qid and the key of an answer."""

Right = Callable[[str, str], bool]
"""Takes a qid and an answer, and says whether it is right."""


class Label(Record):
    """Whether an answer to a question is right, and which source decided.

    ``undecided``: near a gold answer and neither reviewed nor judged, counted as wrong. ``unsupported``: the corpus
    holds no support for the question, so that any answer is wrong.
    """

    qid: str
    answer: str
    right: bool
    source: Source


class Labels:
    """The labels of the answers to a set of questions."""

    def __init__(self, labels: Iterable[Label]):
        self._labels = {(label.qid, answer_key(label.answer)): label for label in labels}

    def of(self, qid: str, answer: str) -> Label:
        """Return the label of an answer; a refusal, which is no answer, has none.

        Raises
        ------
        CalibragError
            The answer was not labelled.
        """
        try:
            return self._labels[qid, answer_key(answer)]
        except KeyError:
            problem = (
                f"question {qid}: the answer {answer!r} has no label; all passes and runs must go to label_answers"
            )
            raise CalibragError(problem) from None

    def right(self, qid: str, answer: str) -> bool:
        """Return whether an answer is right; raises CalibragError as `of` does."""
        return self.of(qid, answer).right


class Given(NamedTuple):
    """All answers that were given.

    Parameters
    ----------
    answers
        qid -> answers of submissions and runs, repeated ones included; no refusals.
    filed_by
        Place -> the runs that file the answer.
    by_pass
        (qid, pass) -> the answer that the pass ended with.
    """

    answers: dict[str, list[str]]
    filed_by: dict[Place, list[str]]
    by_pass: dict[tuple[str, int], str]


def given_answers(traces: Mapping[str, Sequence[Trace]], runs: Mapping[str, Sequence[RunEntry]]) -> Given:
    """Return the answers of traces, qid -> those of its passes, and of runs, name -> entries."""
    given = Given({}, {}, {})
    for qid, passes in traces.items():
        for trace in passes:
            said = [submission.text for submission in trace.submissions if submission.text is not None]
            given.answers.setdefault(qid, []).extend(said)
            if trace.answer is not None:
                given.answers[qid].append(trace.answer)
                given.by_pass[qid, trace.pass_number] = trace.answer
    for run, entries in runs.items():
        for entry in entries:
            if entry.answer is not None:
                given.answers.setdefault(entry.qid, []).append(entry.answer)
                given.filed_by.setdefault((entry.qid, answer_key(entry.answer)), []).append(run)
    return given


class Conflict(NamedTuple):
    """Two sources that disagree on an answer, the one that decided first."""

    qid: str
    answer: str
    source: str
    right: bool
    other: str
    other_right: bool


class Decision(NamedTuple):
    """The labels, what waits for a person, where sources disagree, and how often each source was compared with the one
    that decided, and calls right what is undecided.
    """

    labels: list[Label]
    undecided: list[tuple[Question, str]]
    conflicts: list[Conflict]
    compared: Counter[str]
    undecided_right: Counter[str]

    def counts(self) -> list[tuple[str, int, int, int, int]]:
        """Return for each source that said something: its name, labels that it decided, answers on which it said
        something too where another decided, those of them on which it says the opposite, and the undecided ones, which
        count as wrong, that it calls right.
        """
        decided = Counter(label.source for label in self.labels)
        differ = Counter(conflict.other for conflict in self.conflicts)
        sources = dict.fromkeys([*decided, *self.compared, *self.undecided_right])
        return [
            (source, decided[source], self.compared[source], differ[source], self.undecided_right[source])
            for source in sources
        ]


def label_answers(
    questions: Sequence[Question],
    given: Mapping[str, Sequence[str]],
    said: Mapping[str, Mapping[Place, bool]],
    near: float,
) -> Decision:
    """Return one label for each distinct answer, in the order of the questions and of the answers' keys.

    An answer is right that matches the gold answers (`judging.judge`) in one of the forms in which it was given. One
    that does not, but is near (`is_near`) in one of them, no match decides.

    Parameters
    ----------
    given
        qid -> answers, repeated ones included; no refusals.
    said
        Source -> place -> whether the answer is right. ``review`` and ``judge`` decide, others are only compared.
    near
        Token F1 with a gold answer from which on an answer that does not match is left to a person, in [0, 1].
    """
    decision = Decision([], [], [], Counter(), Counter())
    for question in questions:
        forms: dict[str, list[str]] = {}
        for answer in given.get(question.qid, ()):
            forms.setdefault(answer_key(answer), []).append(answer)
        for key in sorted(forms):
            place = question.qid, key
            opinions = {source: known[place] for source, known in said.items() if place in known}
            _decide(question, list(dict.fromkeys(forms[key])), opinions, near, decision)
    return decision


def _decide(
    question: Question, forms: Sequence[str], opinions: Mapping[str, bool], near: float, decision: Decision
) -> None:
    answer, qid = forms[0], question.qid
    match = any(judge(form, question).right for form in forms)
    if match or not any(is_near(form, question, near) for form in forms):
        opinions = {"match": match, **opinions}
    deciding = "unsupported" if not question.supported else next((s for s in DECIDING if s in opinions), "undecided")
    # neither an answer without support nor an undecided one is right
    right = opinions.get(deciding, False)
    decision.labels.append(Label(qid=qid, answer=answer, right=right, source=deciding))
    if deciding == "undecided":
        decision.undecided.append((question, answer))
        decision.undecided_right.update(source for source, calls_right in opinions.items() if calls_right)
    if deciding in ("undecided", "unsupported"):
        return
    for source, other in opinions.items():
        if source != deciding:
            decision.compared[source] += 1
            if other != right:
                decision.conflicts.append(Conflict(qid, answer, deciding, right, source, other))


def is_near(answer: str, question: Question, near: float) -> bool:
    """Return whether an answer shares enough with a gold answer for a person to look at it.

    Its token F1 is at least ``near``, or all words of one stand in the other, in their order.
    """
    said = words(answer)
    golds = [words(gold) for gold in question.answers]
    return judge(answer, question).f1 >= near or any(
        _holds(said, gold) or _holds(gold, said) for gold in golds if gold and said
    )


def _holds(text: Sequence[str], part: Sequence[str]) -> bool:
    return any(list(text[i : i + len(part)]) == list(part) for i in range(len(text) - len(part) + 1))
