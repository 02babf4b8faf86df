"""Packed continuations get the probabilities that they have one by one."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import LlamaConfig, LlamaForCausalLM

from calibrag.errors import MissingModelError
from calibrag.models.language_scorer import LanguageScorer, Packed, log_probabilities

SIZE = 50
TOKENS = st.lists(st.integers(0, SIZE - 1), min_size=1, max_size=5)


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=SIZE,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
    )
    return LlamaForCausalLM(config).eval()


def one_by_one(model, text, branch):
    """Score a continuation the plain way: one sequence, no mask of our own."""
    logits = model(torch.tensor([text + branch])).logits[0].log_softmax(-1)
    return sum(float(logits[len(text) - 1 + i, token]) for i, token in enumerate(branch))


@settings(max_examples=30, deadline=None)
@given(text=TOKENS, branches=st.lists(TOKENS, min_size=1, max_size=6))
def test_packed_scores_equal_those_of_single_sequences(model, text, branches):
    packed = Packed(text + [t for branch in branches for t in branch], len(text), [len(b) for b in branches])
    with torch.inference_mode():
        scores = log_probabilities(model, packed)
        assert scores.tolist() == pytest.approx([one_by_one(model, text, b) for b in branches], abs=1e-4)


def test_continuations_do_not_see_each_other(model):
    with torch.inference_mode():
        alone = log_probabilities(model, Packed([1, 2, 3, 4, 5], 3, [2]))
        beside = log_probabilities(model, Packed([1, 2, 3, 9, 9, 9, 4, 5], 3, [3, 2]))
    assert float(beside[1]) == pytest.approx(float(alone[0]), abs=1e-5)


def test_scores_are_differentiable(model):
    scores = log_probabilities(model, Packed([1, 2, 3, 4], 2, [1, 1]))
    scores.sum().backward()
    assert model.model.layers[0].self_attn.q_proj.weight.grad.abs().sum() > 0


def test_missing_model_says_what_to_install():
    with pytest.raises(MissingModelError, match="pip install no-such-model"):
        LanguageScorer("none", "package:no_such_model/model.gguf", dtype="float32", threads=1)
