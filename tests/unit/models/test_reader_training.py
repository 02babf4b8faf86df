"""The reader's training: its loss, its examples, and that none of them is evaluated."""

from pathlib import Path

import pytest
import torch

from calibrag.collections.splitting import question_key
from calibrag.models import reader_training
from calibrag.models.reader_training import ReadingExample
from calibrag.records import Question, read_jsonl

RESOURCES = Path(__file__).parents[3] / "workflow" / "resources"


def example(right):
    return ReadingExample(
        qid="q", source="s", question="Who?", sentences=[("t", "s")], candidates=list("abc"), right=right
    )


@pytest.fixture
def scores(monkeypatch):
    values = torch.tensor([1.0, 2.0, 3.0])
    monkeypatch.setattr(reader_training, "_scores", lambda model, tokenizer, example: values)
    return values


def test_loss_is_the_negative_log_of_the_mass_on_right_candidates(scores):
    mass = torch.softmax(scores, 0)
    assert float(reader_training._loss(None, None, example([False, True, True]))) == pytest.approx(
        -float(torch.log(mass[1] + mass[2])), abs=1e-6
    )


def test_accuracy_counts_questions_whose_best_candidate_is_right(scores):
    examples = [example([False, False, True]), example([True, True, False])]
    assert reader_training.accuracy(None, None, examples) == 0.5


def test_the_rate_rises_then_falls_to_a_twentieth():
    rates = [reader_training._rate(step, 100, 0.1) for step in range(100)]
    assert rates[0] == pytest.approx(0.1)
    assert max(rates) == rates[9] == 1.0
    assert rates[-1] == 0.05


@pytest.fixture(scope="module")
def shipped():
    return {
        part: list(read_jsonl(RESOURCES / f"adapters/reader/{part}.jsonl.xz", ReadingExample))
        for part in ("train", "dev")
    }


def test_no_question_that_is_evaluated_is_trained_on(shipped):
    held_out = [
        question
        for name in ("film", "hotpotqa-open")
        for question in read_jsonl(RESOURCES / f"collections/{name}/questions.jsonl.xz", Question)
        if question.split != "train"
    ]
    texts, qids = {question_key(q.text) for q in held_out}, {q.qid for q in held_out}
    for examples in shipped.values():
        assert not qids & {e.qid for e in examples}
        assert not texts & {question_key(e.question) for e in examples}


def test_training_and_held_out_examples_share_no_question(shipped):
    train, dev = ({question_key(e.question) for e in shipped[part]} for part in ("train", "dev"))
    assert len(train) == len(shipped["train"]) and len(dev) == len(shipped["dev"])
    assert not train & dev


def test_every_shipped_example_can_be_learned_from(shipped):
    for examples in shipped.values():
        for e in examples:
            assert any(e.right) and len(e.right) == len(e.candidates) == len(set(e.candidates))
            assert e.sentences
