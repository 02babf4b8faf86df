"""Names by a chat model (BITEM, section 2): one call for names that are spelled out, one for those referred to.

Replies are held to a JSON schema, and no name is taken on trust: one that is not grounded in the text is dropped and
counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from calibrag.corpus.annotation import distinct_names
from calibrag.corpus.batching import batched
from calibrag.corpus.naming.documents import documents
from calibrag.corpus.naming.grounding import Spelling
from calibrag.errors import ModelCallError, RunError
from calibrag.models.chat.batches import complete_all
from calibrag.models.chat.opening import decoding_of, open_chat
from calibrag.models.chat.prompts import Prompt
from calibrag.models.chat.seam import ChatModel, ChatRequest, Decoding, Message
from calibrag.models.chat.spending import Spending
from calibrag.records import Annotation, Passage

_ROUND = 4
"""Requests a slot of the model that are handed over together."""
_JUDGED = 200
"""Requests on which the share of failed ones is judged at the earliest."""


class Asking:
    """Asks a chat model for objects of lists, and stops where too many requests fail.

    ``counts`` is what has been counted so far, by what happened.

    Parameters
    ----------
    chat
        The model; its replies are parsed.
    concurrency
        Requests under way, 1 or more.
    max_error_rate
        Largest share of requests that may fail, 0 to 1.
    say
        Takes lines for the log.
    spending
        What the model's calls use.
    """

    def __init__(
        self,
        chat: ChatModel,
        decoding: Decoding,
        concurrency: int,
        max_error_rate: float,
        say: Callable[[str], None],
        spending: Spending,
    ):
        self.counts: Counter[str] = Counter()
        self.at_once = concurrency * _ROUND
        self.say = say
        self._chat = chat
        self._decoding = decoding
        self._concurrency = concurrency
        self._max_error_rate = max_error_rate
        self._spending = spending
        self._faults: Counter[str] = Counter()

    def request(self, messages: list[Message], keys: int, at_most: int) -> ChatRequest:
        """Return a request whose reply has a list of at most so many names under each of the keys "1", "2", ..."""
        names = {"type": "array", "items": {"type": "string"}, "maxItems": at_most}
        properties = {str(number): names for number in range(1, keys + 1)}
        schema = {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }
        return ChatRequest(messages=messages, decoding=self._decoding, schema=schema)

    def ask(self, requests: Sequence[ChatRequest], about: Sequence[str]) -> list[list[list[str]] | None]:
        """Return the lists of each reply, in order; None for a request that failed, which the log names.

        Parameters
        ----------
        about
            What each request is about, for the log.

        Raises
        ------
        ModelCallError
            A fault that every further call would meet.
        RunError
            Too many requests have failed.
        """
        answers: list[list[list[str]] | None] = []
        for outcome, subject in zip(complete_all(self._chat, requests, self._concurrency), about, strict=True):
            self.counts["requests"] += 1
            if isinstance(outcome, ModelCallError):
                if outcome.meets_every_call:
                    raise outcome
                self.counts["failed requests"] += 1
                self._faults[outcome.fault] += 1
                self.say(f"{subject}: {outcome}")
                answers.append(None)
            else:
                answers.append([outcome.parsed[key] for key in sorted(outcome.parsed, key=int)])
        self._check(_JUDGED)
        return answers

    def finish(self) -> None:
        """Log what has been counted and used.

        Raises
        ------
        RunError
            Too many requests have failed.
        """
        self.say(", ".join(f"{count} {what}" for what, count in self.counts.items()) or "no requests")
        self.say(f"models.chat: {self._spending}")
        self._check(0)

    def _check(self, judged_from: int) -> None:
        failed, asked = self.counts["failed requests"], self.counts["requests"]
        if failed > self._max_error_rate * max(asked, judged_from):
            faults = ", ".join(f"{count} {fault}" for fault, count in self._faults.most_common())
            raise RunError(
                f"{failed} of {asked} requests failed ({faults}), more than corpus.names.chat.max_error_rate "
                f"({self._max_error_rate:g}) allows; the log names them. Mend the cause and run again: with "
                "models.chat.cache: read-write, nothing that was answered is asked for twice"
            )


class ChatAnnotator:
    """Yields the names that passages spell out, each once, in order of first mention, as the passage spells them.

    Parameters
    ----------
    asking
        What asks the model.
    prompt
        Wants ``passages``.
    batch
        Passages a request, 1 or more.
    at_most
        Names that a reply may hold for one passage, 1 or more.
    """

    def __init__(self, asking: Asking, prompt: Prompt, batch: int, at_most: int):
        self._asking = asking
        self._prompt = prompt
        self._batch = batch
        self._at_most = at_most

    def __call__(self, passages: Iterable[Passage]) -> Iterator[Annotation]:
        """Yield the names of each passage; those of a failed request have none."""
        asking = self._asking
        for group in batched(batched(passages, self._batch), asking.at_once):
            answers = asking.ask([self._request(batch) for batch in group], [batch[0].passage_id for batch in group])
            for batch, answer in zip(group, answers, strict=True):
                # a failed request names nothing
                for passage, names in zip(batch, answer or (), strict=bool(answer)):
                    for name in self._grounded(passage, names):
                        yield Annotation(passage_id=passage.passage_id, name=name, origin="passage")
        asking.finish()

    def _request(self, batch: Sequence[Passage]) -> ChatRequest:
        return self._asking.request(self._prompt.fill(passages=_lines(batch)), len(batch), self._at_most)

    def _grounded(self, passage: Passage, names: Iterable[str]) -> list[str]:
        text = Spelling(passage.text)
        found: dict[str, tuple[int, str]] = {}
        for name in distinct_names(names):
            place = text.find(name)
            if place is None:
                self._asking.counts["names not in the passage, dropped"] += 1
            else:
                found.setdefault(place[1].casefold(), place)
        self._asking.counts["names"] += len(found)
        return [name for _, name in sorted(found.values())]


class _Window(NamedTuple):
    """Passages of a document that one request is about."""

    document: Sequence[Passage]
    texts: Sequence[Spelling]
    names: Sequence[str]
    start: int
    end: int


class ChatAssigner:
    """Yields the names of documents that their passages refer to without spelling them out.

    A long document is read in windows of passages, each with the title, the document's names and the passage before. A
    name must be spelled in the title or a passage of the document, and not in the passage that it is assigned to.

    Parameters
    ----------
    asking
        What asks the model.
    prompt
        Wants ``title``, ``names``, ``before`` and ``passages``.
    window
        Passages a request, 1 or more.
    at_most
        Names assigned to a passage, 1 or more.
    names_shown
        Names of the document that a request shows, the most frequent first, 0 or more.
    """

    def __init__(self, asking: Asking, prompt: Prompt, window: int, at_most: int, names_shown: int):
        self._asking = asking
        self._prompt = prompt
        self._window = window
        self._at_most = at_most
        self._names_shown = names_shown

    def __call__(self, passages: Iterable[Passage], annotations: Iterable[Annotation]) -> Iterator[Annotation]:
        """Yield the document-level names; the passages of a failed request have none.

        Parameters
        ----------
        passages
            Whole documents, the passages of each in order.
        annotations
            The names that they spell out, passages in the same order.
        """
        asking = self._asking
        for group in batched(self._windows(passages, annotations), asking.at_once):
            about = [window.document[window.start].passage_id for window in group]
            answers = asking.ask([self._request(window) for window in group], about)
            for window, answer in zip(group, answers, strict=True):
                for place, names in enumerate(answer or (), start=window.start):
                    for name in self._grounded(window, place, names):
                        passage_id = window.document[place].passage_id
                        yield Annotation(passage_id=passage_id, name=name, origin="document")
        asking.finish()

    def _windows(self, passages: Iterable[Passage], annotations: Iterable[Annotation]) -> Iterator[_Window]:
        for document, spelled in documents(passages, annotations):
            counts = Counter(name for names in spelled.values() for name in names)
            texts = [Spelling(document[0].title), *(Spelling(passage.text) for passage in document)]
            names = [name for name, _ in counts.most_common(self._names_shown)]
            for start in range(0, len(document), self._window):
                yield _Window(document, texts, names, start, min(start + self._window, len(document)))

    def _request(self, window: _Window) -> ChatRequest:
        shown = window.document[window.start : window.end]
        messages = self._prompt.fill(
            title=_json(window.document[0].title),
            names=_json(window.names),
            before=_json(window.document[window.start - 1].text if window.start else None),
            passages=_lines(shown),
        )
        return self._asking.request(messages, len(shown), self._at_most)

    def _grounded(self, window: _Window, place: int, names: Iterable[str]) -> list[str]:
        counts = self._asking.counts
        title, *texts = window.texts
        found: dict[str, str] = {}
        for name in distinct_names(names):
            if texts[place].find(name) is not None:
                counts["names that the passage spells out, dropped"] += 1
                continue
            spelled = next((hit for text in (title, *texts) if (hit := text.find(name)) is not None), None)
            if spelled is None:
                counts["names not in the document, dropped"] += 1
            else:
                found.setdefault(spelled[1].casefold(), spelled[1])
        counts["names"] += len(found)
        return list(found.values())


def open_annotator_by_chat(settings: Mapping[str, Any], say: Callable[[str], None]) -> ChatAnnotator:
    """Return what annotates the names that passages spell out.

    Parameters
    ----------
    settings
        ``model``: ``models.chat`` of the configuration; ``naming``: ``corpus.names.chat``.
    """
    naming = settings["naming"]["passage"]
    return ChatAnnotator(_asking(settings, say), Prompt(naming["prompt"]), naming["batch"], naming["at_most"])


def open_assigner_by_chat(settings: Mapping[str, Any], at_most: int, say: Callable[[str], None]) -> ChatAssigner:
    """Return what assigns the names of documents to passages; ``settings`` as for `open_annotator_by_chat`."""
    naming = settings["naming"]["document"]
    prompt = Prompt(naming["prompt"])
    return ChatAssigner(_asking(settings, say), prompt, naming["window"], at_most, naming["names"])


def _asking(settings: Mapping[str, Any], say: Callable[[str], None]) -> Asking:
    model = settings["model"]
    chat, spending = open_chat(model)
    rate = settings["naming"]["max_error_rate"]
    return Asking(chat, decoding_of(model), model["concurrency"], rate, say, spending)


def _lines(passages: Sequence[Passage]) -> str:
    """Return passages as lines of JSON: a text within quotes cannot end its own passage."""
    return "\n".join(
        _json({"passage": number, "title": passage.title, "heading": passage.heading, "text": passage.text})
        for number, passage in enumerate(passages, start=1)
    )


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
