"""Build the pair files that the adapters are trained and measured on.

    python workflow/resources/build/adapter_data.py SOURCE_FOLDER [TARGET_FOLDER]

SOURCE_FOLDER holds hotpotqa/, 2wikimultihopqa/, musique/ and nli/; the shipped collections give the questions of
film and hotpotqa-open. Writes {reranker,verifier}/{train,dev}.jsonl.xz. The same sources give the same bytes.

Training takes no question of the test or dev split of a shipped collection, neither by qid nor by its words, and no
claim or evidence sentence of FEVER-symmetric v0.2, which is the verifier's dev set.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from calibrag.collections.splitting import question_key
from calibrag.corpus.chunking import chunk
from calibrag.corpus.support import qrels
from calibrag.models.text import passage_text
from calibrag.models.training_data import (
    CONTRADICTS,
    ENTAILS,
    NEUTRAL,
    Pair,
    answer_pairs,
    balanced,
    holds,
    relevance_pairs,
    words,
)
from calibrag.models.word_overlap import WordOverlap
from calibrag.records import Document, Question, open_text, read_jsonl, write_jsonl
from calibrag.verification.claims import claim_text
from calibrag.verification.entailment import windows

SEED = 20260
RESOURCES = Path(__file__).parents[1]
COLLECTIONS = ("film", "hotpotqa-open")
BARRED = (*COLLECTIONS, "hotpotqa-pooled")  # whose test and dev questions no training may take
TARGET_WORDS, CEILING_WORDS = 200, 300  # as config.yaml chunks the collections
WINDOW_WORDS = 80  # as config.yaml cuts premises
TRAIN_NEGATIVES, DEV_NEGATIVES = 3, 10
WRONG_ANSWERS, UNRELATED = 1, 1
BREAKING_CEILING = {CONTRADICTS: 300, ENTAILS: 300}
FEVER_UNPROVED, FEVER_MISMATCHED = 1200, 500
# the share of a source's training questions that is taken, so that training ends in minutes on two cores; 2Wiki's come
# from a few templates, and premises about answers are three times as long as FEVER's
SHARES = {
    "reranker": {"2wikimultihopqa": 0.6},
    "verifier": {"2wikimultihopqa": 0.25, "hotpotqa": 0.6, "musique": 0.3},
}


class Asked(NamedTuple):
    """A question with passages that support it and passages that do not, hardest first."""

    group: str
    source: str
    split: str
    question: str
    answers: list[str]
    gold: list[tuple[str, str]]  # (lead, text)
    others: list[tuple[str, str]]


def read(path: Path) -> list[dict]:
    """Return the lines of a JSON Lines file."""
    with open_text(path) as lines:
        return [msgspec.json.decode(line) for line in lines]


def from_collection(name: str) -> Iterator[Asked]:
    """Yield the train and dev questions of a shipped collection; the others are BM25's best passages of all."""
    folder = RESOURCES / "collections" / name
    documents = read_jsonl(folder / "documents.jsonl.xz", Document)
    passages = [p for document in documents for p in chunk(document, TARGET_WORDS, CEILING_WORDS)]
    asked = [q for q in read_jsonl(folder / "questions.jsonl.xz", Question) if q.split != "test" and q.supported]
    gold: dict[str, set[str]] = {}
    for qid, passage_id, _ in qrels(asked, passages)[0]:
        gold.setdefault(qid, set()).add(passage_id)
    texts = [passage_text(p.title, p.heading, p.text) for p in passages]
    overlap = WordOverlap(texts)
    for question in asked:
        wanted = gold.get(question.qid, set())
        best = [passages[place] for place in overlap.top(question.text, DEV_NEGATIVES + len(wanted))]
        yield Asked(
            question.qid, name, question.split, question.text, question.answers,
            [_lead_and_text(p) for p in passages if p.passage_id in wanted],
            [_lead_and_text(p) for p in best if p.passage_id not in wanted],
        )  # fmt: skip


def from_paragraphs(source: str, entries: list[dict], split: str, chance: random.Random) -> Iterator[Asked]:
    """Yield questions whose file says which of the paragraphs support them."""
    for entry in entries:
        paragraphs = [(p["title"], p.get("text") or p.get("paragraph_text"), p["is_supporting"])
                      for p in entry["paragraphs"]]  # fmt: skip
        answers = entry.get("answers") or [entry["answer"], *entry["answer_aliases"]]
        others = [(title, text) for title, text, good in paragraphs if text and not good]
        chance.shuffle(others)
        yield Asked(
            entry["id"], source, split, entry["question"], answers,
            [(title, text) for title, text, good in paragraphs if text and good], others,
        )  # fmt: skip


def with_flags(entry: dict) -> dict:
    """Return a question with sentences and supporting facts as one with flagged paragraphs."""
    good = {title for title, _ in entry["supporting_facts"]}
    paragraphs = [
        {"title": title, "text": " ".join(sentence.strip() for sentence in sentences), "is_supporting": title in good}
        for title, sentences in entry["context"]
    ]
    return {**entry, "answers": [entry["answer"]], "paragraphs": paragraphs}


def questions(source: Path) -> list[Asked]:
    """Return all questions, those for training free of held-out ones and of repeats."""
    chance = random.Random(SEED)
    shipped = [asked for name in COLLECTIONS for asked in from_collection(name)]
    held_out = [
        question
        for name in BARRED
        for question in read_jsonl(RESOURCES / "collections" / name / "questions.jsonl.xz", Question)
        if question.split != "train"
    ]
    dev_2wiki = [with_flags(entry) for entry in read(source / "2wikimultihopqa" / "sentences.jsonl")]
    more = [
        *from_paragraphs("hotpotqa", read(source / "hotpotqa" / "distractor_paragraphs.jsonl.gz"), "train", chance),
        *from_paragraphs("2wikimultihopqa", read(source / "2wikimultihopqa" / "paragraphs.jsonl.gz"), "train", chance),
        *from_paragraphs("musique", read(source / "musique" / "musique_ans.jsonl.gz"), "train", chance),
        *from_paragraphs("2wikimultihopqa", dev_2wiki, "dev", chance),
    ]
    barred_ids = {question.qid for question in held_out} | {entry["id"] for entry in dev_2wiki}
    barred_keys = {question_key(question.text) for question in held_out}
    barred_keys |= {question_key(entry["question"]) for entry in dev_2wiki}
    out, seen = [], set()
    for asked in shipped + more:
        key = question_key(asked.question)
        if asked.split == "train" and (asked.group in barred_ids or key in barred_keys):
            continue
        if key not in seen and asked.gold:
            seen.add(key)
            out.append(asked)
    return out


def thinned(asked: list[Asked], split: str, shares: dict[str, float]) -> Iterator[Asked]:
    """Yield the questions of a split; for training, only these shares of the sources named."""
    chance = random.Random(SEED)
    for item in asked:
        if item.split != split:
            continue
        if split == "dev" or item.source not in shares or chance.random() < shares[item.source]:
            yield item


def relevance(asked: list[Asked], split: str) -> Iterator[Pair]:
    """Yield the pairs of the reranker."""
    for item in thinned(asked, split, SHARES["reranker"]):
        yield from relevance_pairs(
            item.group, item.source, item.question,
            [passage_text(lead, None, text) for lead, text in item.gold],
            [passage_text(lead, None, text) for lead, text in item.others],
            TRAIN_NEGATIVES if split == "train" else DEV_NEGATIVES,
        )  # fmt: skip


def answers(asked: list[Asked], split: str) -> Iterator[Pair]:
    """Yield the claims about answers of the verifier; premises are windows, as the verifier reads them."""
    chance = random.Random(SEED)
    for item in thinned(asked, split, SHARES["verifier"]):
        yield from answer_pairs(
            item.group, item.source, item.question, item.answers,
            [_window(lead, text, item.answers) for lead, text in item.gold],
            [_window(lead, text, ()) for lead, text in item.others],
            claim_text, chance, WRONG_ANSWERS, UNRELATED,
        )  # fmt: skip


def fever(source: Path, barred: Callable[[str], bool]) -> Iterator[Pair]:
    """Yield FEVER's claims with evidence; those without, and some with, are paired with other evidence as neutral."""
    chance = random.Random(SEED)
    entries = [e for e in read(source / "nli" / "fever_paper_test_resolved.jsonl.gz") if not barred(e["claim"])]
    judged = [
        (entry, _page(entry), " ".join(clean(sentence) for sentence in entry["evidence_sentences"][:2]))
        for entry in entries
        if entry["evidence_sentences"] and not any(barred(sentence) for sentence in entry["evidence_sentences"])
    ]
    overlap = WordOverlap([f"{page} {text}" for _, page, text in judged])
    labels = {"SUPPORTS": ENTAILS, "REFUTES": CONTRADICTS}

    def pair(entry: dict, page: str, text: str, label: str) -> Pair:
        # premises come with their title in use, and without it in FEVER-symmetric
        premise = passage_text(page, None, text) if chance.random() < 0.5 else text
        group = f"fever-{entry['id']}"
        return Pair(group=group, source="fever", first=premise, second=clean(entry["claim"]), label=label)

    for entry, page, text in judged:
        yield pair(entry, page, text, labels[entry["label"]])
    unproved = [entry for entry in entries if entry["label"] == "NOT ENOUGH INFO"]
    mismatched = [entry for entry, _, _ in chance.sample(judged, FEVER_MISMATCHED)]
    for number, entry in enumerate(chance.sample(unproved, FEVER_UNPROVED) + mismatched):
        near = overlap.top(clean(entry["claim"]), 4)
        place = near[chance.randrange(4)] if number % 4 else chance.randrange(len(judged))
        other, page, text = judged[place]
        if other["id"] != entry["id"] and page != _page(entry):
            yield pair(entry, page, text, NEUTRAL)


def claims(source: Path, barred: Callable[[str], bool]) -> Iterator[Pair]:
    """Yield the pairs of FEVER, FEVER-symmetric v0.1 and breaking-NLI."""
    chance = random.Random(SEED)
    yield from fever(source, barred)
    for entry in read(source / "nli" / "symmetric_v0.1_fever_symmetric_full.jsonl"):
        if not barred(entry["claim"]) and not barred(entry["evidence_sentence"]):
            yield symmetric(entry, entry["evidence_sentence"])
    names = {"entailment": ENTAILS, "neutral": NEUTRAL, "contradiction": CONTRADICTS}
    breaking = [
        Pair(group=f"breaking-{number}", source="breaking-nli", first=entry["sentence1"], second=entry["sentence2"],
             label=names[entry["gold_label"]])
        for number, entry in enumerate(read(source / "nli" / "breaking_nli.jsonl.gz"))
    ]  # fmt: skip
    yield from balanced(breaking, BREAKING_CEILING, chance)


def symmetric(entry: dict, evidence: str) -> Pair:
    """Return a pair of FEVER-symmetric; its ids repeat, the pairs do not."""
    label = {"SUPPORTS": ENTAILS, "REFUTES": CONTRADICTS}[entry["label"]]
    return Pair(group=f"symmetric-{entry['id']}", source="fever-symmetric", first=clean(evidence),
                second=clean(entry["claim"]), label=label)  # fmt: skip


def clean(text: str) -> str:
    """Return a sentence of FEVER with its escaped brackets and quotes as they were."""
    for code, sign in (("-LRB-", "("), ("-RRB-", ")"), ("-LSB-", "["), ("-RSB-", "]"), ("``", '"'), ("''", '"')):
        text = text.replace(code, sign)
    return " ".join(text.split())


def build(source: Path, target: Path) -> None:
    """Write the four pair files."""
    held = read(source / "nli" / "symmetric_v0.2_fever_symmetric_dev.jsonl")
    barred = {tuple(words(clean(text))) for entry in held for text in (entry["claim"], entry["evidence"])}
    asked = questions(source)
    files = {
        "reranker/train": relevance(asked, "train"),
        "reranker/dev": relevance(asked, "dev"),
        "verifier/train": [
            *claims(source, lambda text: tuple(words(clean(text))) in barred), *answers(asked, "train")
        ],
        "verifier/dev": [*(symmetric(entry, entry["evidence"]) for entry in held), *answers(asked, "dev")],
    }  # fmt: skip
    for name, pairs in files.items():
        print(name, write_jsonl(target / f"{name}.jsonl.xz", pairs))


def _lead_and_text(passage) -> tuple[str, str]:
    lead = passage_text(passage.title, passage.heading, "")
    return lead, passage.text


def _window(lead: str, text: str, wanted: list[str] | tuple) -> str:
    cut = windows(text, WINDOW_WORDS)
    best = next((window for answer in wanted for window in cut if holds(window, answer)), cut[0])
    return passage_text(lead, None, best)


def _page(entry: dict) -> str:
    page = entry["evidence"][0][0][2] if entry["evidence"] and entry["evidence"][0] else None
    return clean((page or "").replace("_", " "))


if __name__ == "__main__":
    build(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else RESOURCES / "adapters")
