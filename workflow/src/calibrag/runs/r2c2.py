"""Run files of NTCIR-19 R2C2: topics, passage runs (PR) and answer runs (AC), written and read (spec/bitem section 5).

Topics      ``<question><qID>0001</qID><q>...</q></question>``
PR          ``qID;rank;docID;text``, ranks from 1
AC          a block a question: ``<D0001>``, ``answer;confidence``, lines ``n;PRrun;rank;nugget``, ``</D0001>``; the
            answer may stand on the tag's own line. An empty answer is a refusal, confidence a whole number 0 to 100

A scan finds every violation of the format and keeps what can be read, so that one reader serves runs that are to be
scored (`read_passages`, `read_answers`, which raise) and those that are to be mended (`r2c2_validation`).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from lxml import etree

from calibrag.collections.r2c2 import read_questions
from calibrag.errors import CalibragError, InputError
from calibrag.records import Question, read_jsonl, whole_file

MOST_PASSAGES = 20
"""Passages of a question in a PR run at most."""

_OPENS = re.compile(r"<(D[^<>;/\s][^<>;\s]*)>")
_CLOSES = re.compile(r"</(D[^<>;\s]+)>")
_WHOLE = re.compile(r"[0-9]+")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


class Violation(NamedTuple):
    """A break of a rule, at a line from 1; 0 where it is of the whole file."""

    file: Path
    line: int
    rule: str
    problem: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.rule}: {self.problem}"


class PassageLine(NamedTuple):
    """A line of a PR run."""

    line: int
    qid: str
    rank: int
    passage_id: str
    text: str


class CitedNugget(NamedTuple):
    """A nugget line of an AC run: the PR run and the rank of its passage there."""

    line: int
    passage_run: str
    rank: int
    text: str


class AnswerBlock(NamedTuple):
    """A block of an AC run: ``answer`` None is a refusal, ``confidence`` 0 to 100."""

    line: int
    qid: str
    answer: str | None
    confidence: int
    nuggets: list[CitedNugget]


def plain(text: str) -> str:
    """Return a text as a field of a run: each CR, LF and TAB is a space."""
    return re.sub(r"[\r\n\t]", " ", text)


def percent(confidence: float) -> int:
    """Return a confidence in [0, 1] as a whole number of percent, halves up."""
    return math.floor(100 * confidence + 0.5)


# --- writing --------------------------------------------------------------------------------------


def write_topics(path: str | Path, questions: Iterable[Question]) -> None:
    """Write questions as topics."""
    with whole_file(path) as partial, open(partial, "w", encoding="utf-8") as out:
        for question in questions:
            topic = etree.Element("question")
            for tag, text in (("qID", question.qid), ("q", _xml_text(question.text))):
                etree.SubElement(topic, tag).text = text
            out.write(etree.tostring(topic, encoding="unicode") + "\n")


def write_passages(path: str | Path, rankings: Mapping[str, Sequence[tuple[str, str]]]) -> None:
    """Write a PR run of qid -> (passage id, text), best first.

    Raises
    ------
    CalibragError
        An id holds a semicolon or a line break, or a question has more than `MOST_PASSAGES`.
    """
    with whole_file(path) as partial, open(partial, "w", encoding="utf-8", newline="") as out:
        for qid, passages in rankings.items():
            if len(passages) > MOST_PASSAGES:
                raise CalibragError(f"R2C2 takes at most {MOST_PASSAGES} passages (got {len(passages)} for {qid})")
            for rank, (passage_id, text) in enumerate(passages, start=1):
                out.write(f"{_name(qid)};{rank};{_name(passage_id)};{plain(text)}\n")


def write_answers(path: str | Path, blocks: Iterable[AnswerBlock]) -> None:
    """Write an AC run; the lines of the blocks do not matter. Raises CalibragError as `write_passages` does."""
    with whole_file(path) as partial, open(partial, "w", encoding="utf-8", newline="") as out:
        for block in blocks:
            tag = f"D{_name(block.qid)}"
            out.write(f"<{tag}>\n{plain(block.answer or '')};{block.confidence}\n")
            for number, nugget in enumerate(block.nuggets, start=1):
                out.write(f"{number};{_name(nugget.passage_run)};{nugget.rank};{plain(nugget.text)}\n")
            out.write(f"</{tag}>\n")


def _name(text: str) -> str:
    if not text or re.search(r"[;<>\s]", text):
        raise CalibragError(f"R2C2 takes no empty id, and none with ; < > or a space (got {text!r})")
    return text


def _xml_text(text: str) -> str:
    """Return a text without the characters that XML cannot hold."""
    return re.sub(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\N{REPLACEMENT CHARACTER}", text)


# --- reading --------------------------------------------------------------------------------------


def read_topics(path: str | Path) -> list[str]:
    """Return the qids of a file of topics, or of our own questions (``.jsonl``, also compressed).

    Raises
    ------
    InputError
        The file breaks its format, holds no topic, or one twice.
    """
    if ".jsonl" in Path(path).name:
        qids = [question.qid for question in read_jsonl(path, Question)]
    else:
        qids = [question.qid for _, question in read_questions(str(path))]
    if not qids:
        raise InputError(path, "must hold <question> elements (found none)")
    if repeated := sorted(qid for qid, times in Counter(qids).items() if times > 1):
        raise InputError(path, f"must hold a question once ({repeated[0]} comes again)")
    return qids


def read_passages(path: str | Path) -> dict[str, list[str]]:
    """Return qid -> passage ids, best first, of a PR run.

    Raises
    ------
    InputError
        The run breaks its format; names the first break and their number.
    """
    lines, violations = scan_passages(path)
    _refuse(path, violations)
    rankings: dict[str, list[str]] = {}
    for line in sorted(lines, key=lambda line: line.rank):
        rankings.setdefault(line.qid, []).append(line.passage_id)
    return rankings


def read_answers(path: str | Path) -> list[AnswerBlock]:
    """Return the blocks of an AC run; raises InputError as `read_passages` does."""
    blocks, violations = scan_answers(path)
    _refuse(path, violations)
    return blocks


def is_answer_run(path: str | Path) -> bool:
    """Return whether a file is an AC run: some line begins with a tag."""
    with open(path, "rb") as stream:
        return any(line.removeprefix(b"\xef\xbb\xbf").lstrip().startswith((b"<D", b"</D")) for line in stream)


def _refuse(path: str | Path, violations: Sequence[Violation]) -> None:
    if violations:
        first, more = violations[0], len(violations) - 1
        rest = f"; {more} more, which calibrag validate-run lists" if more else ""
        raise InputError(path, f"{first.rule}: {first.problem}{rest}", first.line or None)


def scan_passages(path: str | Path) -> tuple[list[PassageLine], list[Violation]]:
    """Return the lines of a PR run that can be read, and every violation of the format."""
    path = Path(path)
    found: list[PassageLine] = []
    violations: list[Violation] = []
    ranks: dict[str, dict[int, int]] = {}
    ids: dict[str, dict[str, int]] = {}

    def report(number: int, rule: str, problem: str) -> None:
        violations.append(Violation(path, number, rule, problem))

    for number, line in _lines(path, violations):
        parts = line.split(";", 3)
        if len(parts) < 4:
            report(number, "fields", f"must be qID;rank;docID;text (found {len(parts)} of 4 fields)")
            continue
        qid, rank_text, passage_id, text = (part.strip() for part in parts)
        if not passage_id:
            report(number, "docid-empty", "docID must not be empty")
        if not text:
            report(number, "text-empty", "text must not be empty")
        rank = _integer(rank_text, 1, MOST_PASSAGES)
        if rank is None:
            report(number, "rank-range", f"rank must be a whole number from 1 to {MOST_PASSAGES} (got {rank_text!r})")
            continue
        if rank in ranks.setdefault(qid, {}):
            report(number, "rank-repeated", f"topic {qid} has rank {rank} already on line {ranks[qid][rank]}")
            continue
        ranks[qid][rank] = number
        if passage_id and passage_id in ids.setdefault(qid, {}):
            report(number, "docid-repeated", f"topic {qid} has {passage_id} already on line {ids[qid][passage_id]}")
        ids.setdefault(qid, {})[passage_id] = number
        found.append(PassageLine(number, qid, rank, passage_id, text))
    for qid, known in ranks.items():
        if absent := sorted(set(range(1, max(known) + 1)) - set(known)):
            listed = ", ".join(map(str, absent))
            report(known[max(known)], "rank-gap", f"topic {qid} has rank {max(known)}, but not {listed}")
    return found, sorted(violations, key=lambda violation: violation.line)


def scan_answers(path: str | Path) -> tuple[list[AnswerBlock], list[Violation]]:
    """Return the blocks of an AC run that can be read, and every violation of the format."""
    scan = _AnswerScan(Path(path))
    for number, line in _lines(scan.path, scan.violations):
        scan.take(number, line)
    scan.end()
    return scan.blocks, sorted(scan.violations, key=lambda violation: violation.line)


class _AnswerScan:
    """Reads an AC run line by line; ``tag`` is that of the block that is open, None between blocks."""

    def __init__(self, path: Path):
        self.path = path
        self.blocks: list[AnswerBlock] = []
        self.violations: list[Violation] = []
        self.tag: str | None = None
        self.line = 0
        self.answered = False
        self.numbers = 0
        self.block: AnswerBlock | None = None

    def report(self, number: int, rule: str, problem: str) -> None:
        self.violations.append(Violation(self.path, number, rule, problem))

    def take(self, number: int, line: str) -> None:
        """Take the next line."""
        text = line.strip()
        if closes := _CLOSES.fullmatch(text):
            self.close(number, closes[1])
        elif (opens := _OPENS.fullmatch(text)) or (self.tag is None and (opens := _OPENS.match(text))):
            self.open(number, opens[1])
            if rest := text[opens.end() :].strip():
                self.answer(number, rest)
        elif self.tag is None:
            self.report(number, "outside-block", f"a line must stand between <D...> and </D...> (got {_cut(text)!r})")
        elif not self.answered:
            self.answer(number, text)
        else:
            self.nugget(number, text)

    def open(self, number: int, tag: str) -> None:
        """Begin a block."""
        if self.tag is not None:
            self.report(self.line, "block-unclosed", f"<{self.tag}> must be closed before <{tag}> on line {number}")
            self.finish()
        self.tag, self.line, self.answered, self.numbers, self.block = tag, number, False, 0, None

    def close(self, number: int, tag: str) -> None:
        """End a block."""
        if self.tag is None:
            self.report(number, "block-unopened", f"</{tag}> closes a block that is not open")
            return
        if tag != self.tag:
            self.report(number, "block-mismatch", f"<{self.tag}> of line {self.line} is closed by </{tag}>")
        self.finish()

    def finish(self) -> None:
        """Keep the block that ends."""
        if not self.answered:
            self.report(self.line, "answer-missing", f"<{self.tag}> must hold a line answer;confidence")
        elif self.block:
            self.blocks.append(self.block)
        self.tag = None

    def end(self) -> None:
        """End the file."""
        if self.tag is not None:
            self.report(self.line, "block-unclosed", f"<{self.tag}> must be closed by </{self.tag}> (the file ends)")
            self.finish()

    def answer(self, number: int, text: str) -> None:
        """Take the line of an answer, which ends in its confidence."""
        self.answered = True
        said, semicolon, stated = text.rpartition(";")
        if not semicolon:
            self.report(number, "answer-fields", f"must be answer;confidence (got {_cut(text)!r})")
            return
        confidence = _integer(stated.strip(), 0, 100)
        if confidence is None:
            self.report(number, "confidence", f"must be a whole number from 0 to 100 (got {stated.strip()!r})")
            return
        self.block = AnswerBlock(self.line, self.tag.removeprefix("D"), said.strip() or None, confidence, [])

    def nugget(self, number: int, text: str) -> None:
        """Take the line of a nugget."""
        self.numbers += 1
        parts = [part.strip() for part in text.split(";", 3)]
        if len(parts) < 4:
            self.report(number, "nugget-fields", f"must be n;PRrun;rank;nugget (found {len(parts)} of 4 fields)")
            return
        if parts[0] != str(self.numbers):
            self.report(number, "nugget-number", f"must be numbered {self.numbers} (got {parts[0]!r})")
        rank = _integer(parts[2], 1, MOST_PASSAGES)
        if rank is None:
            allowed = f"a whole number from 1 to {MOST_PASSAGES}"
            self.report(number, "nugget-rank", f"rank must be {allowed} (got {parts[2]!r})")
        if not parts[3]:
            self.report(number, "nugget-empty", "nugget must not be empty")
        if rank is not None and self.block:
            self.block.nuggets.append(CitedNugget(number, parts[1], rank, parts[3]))


def _lines(path: Path, violations: list[Violation]) -> Iterator[tuple[int, str]]:
    """Yield number and text of the lines that are not blank; what they must not hold is a violation."""
    lines = path.read_bytes().split(b"\n")
    if not any(line.strip() for line in lines):
        violations.append(Violation(path, 0, "empty", "must hold lines (found none)"))
    for number, line in enumerate(lines, start=1):
        if number == 1 and line.startswith(b"\xef\xbb\xbf"):
            violations.append(Violation(path, 1, "encoding", "must begin without a byte order mark"))
            line = line.removeprefix(b"\xef\xbb\xbf")
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError as error:
            at = f"byte {error.start + 1} is {line[error.start]:#04x}"
            violations.append(Violation(path, number, "encoding", f"must be UTF-8 ({at})"))
            text = line.decode("utf-8", "replace")
        if held := sorted(set(_CONTROL.findall(text))):
            named = ", ".join(f"U+{ord(character):04X}" for character in held)
            problem = f"must hold no control character (got {named})"
            violations.append(Violation(path, number, "control-character", problem))
        if text.strip():
            yield number, text


def _integer(text: str, least: int, most: int) -> int | None:
    """Return a whole number within bounds; None where the text is none."""
    return int(text) if _WHOLE.fullmatch(text) and len(text) < 9 and least <= int(text) <= most else None


def _cut(text: str) -> str:
    return text if len(text) <= 40 else text[:39] + "…"
