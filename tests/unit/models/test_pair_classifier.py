"""The pair classifier starts at the cosine of its two texts, and knows them apart by their token types."""

import pytest
import torch
from transformers import BertConfig, BertModel

from calibrag.models.pair_classifier import START_COSINE, START_SLOPE, PairClassifier


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    config = BertConfig(vocab_size=50, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=16)
    return PairClassifier(BertModel(config, add_pooling_layer=False), 3).eval()


def batch():
    return {
        "input_ids": torch.tensor([[1, 7, 8, 2, 9, 10, 2, 0], [1, 7, 2, 11, 12, 13, 14, 2]]),
        "token_type_ids": torch.tensor([[0, 0, 0, 0, 1, 1, 1, 0], [0, 0, 0, 1, 1, 1, 1, 1]]),
        "attention_mask": torch.tensor([[1, 1, 1, 1, 1, 1, 1, 0], [1, 1, 1, 1, 1, 1, 1, 1]]),
    }


def test_an_untrained_head_gives_the_first_label_the_cosine_and_the_others_nothing(model):
    with torch.inference_mode():
        logits = model(**batch()).logits
        states = model.encoder(batch()["input_ids"], batch()["attention_mask"]).last_hidden_state
    first, second = states[0, :4].mean(dim=0), states[0, 4:7].mean(dim=0)
    cosine = torch.nn.functional.cosine_similarity(first, second, dim=0)
    assert float(logits[0, 0]) == pytest.approx(float(START_SLOPE * (cosine - START_COSINE)), abs=1e-4)
    assert (logits[:, 1:] == 0).all()


def test_padding_changes_nothing(model):
    longer = {name: torch.nn.functional.pad(value, (0, 5)) for name, value in batch().items()}
    with torch.inference_mode():
        assert torch.allclose(model(**batch()).logits, model(**longer).logits, atol=1e-5)
