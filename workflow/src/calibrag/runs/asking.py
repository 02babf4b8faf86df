"""Runs that ask the model again about an answer that is filed: for its confidence, and for a second answer.

The recovered model-as-judge: "the recorded answer with the model's own confidence, citations, verified nuggets and
filed passages; retried if it cites an unfiled passage". Capped self-confidence: "a second answer from the nuggets
alone; cap at 25/60/100 by its agreement with the filed answer" (spec/bitem section 5).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from msgspec.structs import replace

from calibrag.agents.reading import sentences_of
from calibrag.corpus.store import PassageStore
from calibrag.execution.opening import open_reader
from calibrag.models.answer_reader import AnswerReader
from calibrag.models.chat.batches import complete_or_say
from calibrag.models.chat.opening import decoding_of, open_chat
from calibrag.models.chat.prompts import Prompt
from calibrag.models.chat.seam import ChatModel, ChatRequest, Decoding
from calibrag.normalisation import answer_key, words
from calibrag.records import Passage, Question
from calibrag.retrieval.runs import Rankings
from calibrag.runs.names import CAPPED, JUDGE
from calibrag.trace import RunEntry

_LONGEST = 200
"""Characters of a second answer: a small model that runs on and on says nothing more."""


class Case(NamedTuple):
    """What is asked about: a question with its filed answer, quotes of the verified nuggets, each with its passage's
    title, and the best of the passages filed.
    """

    question: str
    answer: str
    nuggets: list[tuple[str, str]]
    passages: list[Passage]


class Opinion(NamedTuple):
    """The model's confidence in the answer, in [0, 1], and its answer from the nuggets alone, None for none.

    ``failed``: it could not be asked for that answer.
    """

    confidence: float
    second: str | None
    failed: bool = False


class Asker(Protocol):
    """A model that can be asked."""

    def __call__(self, cases: Sequence[Case]) -> list[Opinion | None]:
        """Return what it says of each case, in their order; None where it could not be asked."""


class ReaderAsker:
    """Asks the reader: its confidence is the share of the answer among the candidates that it finds in the passages.

    An answer that is none of them gets 0. Its second answer is the best candidate in the nuggets' quotes.

    Parameters
    ----------
    progress
        Takes the cases and gives them back one by one, for the log.
    """

    def __init__(self, reader: AnswerReader, progress: Callable[[Sequence[Case]], Iterable[Case]]):
        self._reader = reader
        self._progress = progress

    def __call__(self, cases: Sequence[Case]) -> list[Opinion | None]:
        """Return the opinions, see `Asker`."""
        return [self._ask(case) for case in self._progress(cases)]

    def _ask(self, case: Case) -> Opinion:
        context = [(passage.title, text) for passage in case.passages for text in sentences_of(passage)]
        found = self._reader.read(case.question, context)[0] if context else []
        share = sum(one.probability for one in found if answer_key(one.text) == answer_key(case.answer))
        again = self._reader.read(case.question, case.nuggets)[0] if case.nuggets else []
        second = max(again, key=lambda one: one.probability).text if again else None
        return Opinion(min(1.0, share), second)


class ChatAsker:
    """Asks a chat model, once for its confidence with citations, once for a second answer.

    A citation of a passage that was not shown is asked for again, ``retries`` times, and then dropped.

    Parameters
    ----------
    judge, again
        Prompts with the placeholders question, answer, nuggets, passages; and question, nuggets.
    say
        Takes lines for the log.
    """

    def __init__(
        self,
        chat: ChatModel,
        decoding: Decoding,
        concurrency: int,
        judge: Prompt,
        again: Prompt,
        retries: int,
        say: Callable[[str], None],
    ):
        self._chat = chat
        self._decoding = decoding
        self._concurrency = concurrency
        self._judge = judge
        self._again = again
        self._retries = retries
        self._say = say

    def __call__(self, cases: Sequence[Case]) -> list[Opinion | None]:
        """Return the opinions, see `Asker`; raises ModelCallError for a fault that every further call would meet."""
        judged = self._judged(cases)
        known = [place for place, case in enumerate(cases) if judged[place] is not None and case.nuggets]
        seconds = self._complete([self._again_request(cases[place]) for place in known], [cases[p] for p in known])
        second = dict(zip(known, seconds, strict=True))
        return [
            None if reply is None else _opinion(reply["confidence"] / 100, second.get(place, {"answer": ""}))
            for place, reply in enumerate(judged)
        ]

    def _judged(self, cases: Sequence[Case]) -> list[dict | None]:
        """Return the replies about confidence, those with strange citations asked for again."""
        replies = self._complete([self._judge_request(case, 0) for case in cases], cases)
        for attempt in range(1, self._retries + 1):
            odd = [place for place, reply in enumerate(replies) if reply and _strange(reply, cases[place])]
            asked = [self._judge_request(cases[place], attempt) for place in odd]
            for place, reply in zip(odd, self._complete(asked, [cases[place] for place in odd]), strict=True):
                replies[place] = reply or replies[place]
        dropped = sum(len(_strange(reply, case)) for reply, case in zip(replies, cases, strict=True) if reply)
        if dropped:
            self._say(f"{dropped} citations of passages that are not filed were dropped")
        return replies

    def _complete(self, requests: Sequence[ChatRequest], cases: Sequence[Case]) -> list[dict | None]:
        about = [repr(case.question) for case in cases]
        replies = complete_or_say(self._chat, requests, about, self._concurrency, self._say)
        return [reply and reply.parsed for reply in replies]

    def _judge_request(self, case: Case, attempt: int) -> ChatRequest:
        shown = "\n\n".join(f"[{n}] {one.title}\n{one.text}" for n, one in enumerate(case.passages, start=1))
        filled = self._judge.fill(
            question=case.question, answer=case.answer, nuggets=_listed(case.nuggets), passages=shown or "none"
        )
        number = {"type": "integer", "minimum": 0, "maximum": 100}
        cited = {"type": "array", "items": {"type": "integer"}, "maxItems": 20}
        schema = _object(confidence=number, citations=cited)
        return ChatRequest(messages=filled, decoding=self._decoding, schema=schema, sample=attempt)

    def _again_request(self, case: Case) -> ChatRequest:
        filled = self._again.fill(question=case.question, nuggets=_listed(case.nuggets))
        return ChatRequest(
            messages=filled, decoding=self._decoding, schema=_object(answer={"type": "string", "maxLength": _LONGEST})
        )


def _opinion(confidence: float, again: Mapping | None) -> Opinion:
    """Return an opinion of the reply that holds the second answer, an empty text for none; None: the request failed."""
    return Opinion(confidence, (again or {}).get("answer") or None, failed=again is None)


def _strange(reply: Mapping, case: Case) -> list[int]:
    return [place for place in reply["citations"] if not 1 <= place <= len(case.passages)]


def _listed(nuggets: Sequence[tuple[str, str]]) -> str:
    return "\n".join(f"- {title}: {text}" for title, text in nuggets) or "none"


def _object(**properties: dict) -> dict:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def ask_again(
    entries: Sequence[RunEntry],
    questions: Mapping[str, Question],
    rankings: Mapping[str, Rankings],
    store: PassageStore,
    ask: Asker,
    *,
    passages: int,
    caps: Mapping[str, float],
) -> list[RunEntry]:
    """Return the entries of the runs `JUDGE` and `CAPPED`: the answers of a run with what the model thinks of them.

    A refusal is not asked about and keeps confidence 0; an answer of which the model could not be asked has no entry.

    Parameters
    ----------
    entries
        The run that is asked about.
    questions
        qid -> question.
    rankings
        Passage run -> its rankings.
    passages
        Passages that the model is shown, the first ones that the passage run of the entry files.
    caps
        Largest confidence by how the second answer agrees, see `agreement`.
    """
    answered = [entry for entry in entries if entry.answer is not None]
    cases = []
    for entry in answered:
        filed = rankings[entry.passage_run].get(entry.qid, [])[:passages]
        nuggets = [(store[one.passage_id].title, quote) for one in entry.nuggets for quote in one.quotes]
        shown = [store[passage_id] for passage_id in filed]
        cases.append(Case(questions[entry.qid].text, entry.answer, nuggets, shown))
    said = {entry.qid: opinion for entry, opinion in zip(answered, ask(cases), strict=True)}
    made = []
    for run in (JUDGE, CAPPED):
        for entry in entries:
            if entry.answer is None:
                made.append(replace(entry, run=run, confidence=0.0))
            elif (opinion := said[entry.qid]) is not None and not (run == CAPPED and opinion.failed):
                cap = 1.0 if run == JUDGE else caps[agreement(entry.answer, opinion.second)]
                made.append(replace(entry, run=run, confidence=min(opinion.confidence, cap)))
    return made


def agreement(answer: str, second: str | None) -> str:
    """Return how a second answer agrees: ``same`` after normalisation, ``near`` where all words of one are in the
    other, else ``other``, also where there is none.
    """
    if second is None:
        return "other"
    if answer_key(answer) == answer_key(second):
        return "same"
    one, two = set(words(answer)), set(words(second))
    return "near" if one and two and (one <= two or two <= one) else "other"


def open_asker(
    models: Mapping[str, Any],
    settings: Mapping[str, Any],
    reader: Sequence[str | Path],
    threads: int,
    progress: Callable[[Sequence[Case]], Iterable[Case]],
    say: Callable[[str], None],
) -> Asker:
    """Return the model that a system's policy asks: the reader where ``models`` holds it, else the chat model.

    Parameters
    ----------
    models
        Those blocks of ``models`` that are used.
    settings
        The block ``runs.asked`` of the configuration.
    reader
        The folder of the reader's unpacked weights; [] for a chat model.
    """
    if reader:
        return ReaderAsker(open_reader(models, reader[0], threads), progress)
    chat, _ = open_chat(models["chat"])
    prompts = Prompt(settings["prompts"]["judge"]), Prompt(settings["prompts"]["again"])
    concurrency = models["chat"]["concurrency"]
    return ChatAsker(chat, decoding_of(models["chat"]), concurrency, *prompts, settings["retries"], say)
