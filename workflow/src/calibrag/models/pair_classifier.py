"""A sentence encoder that reads two texts together and labels the pair, starting from what it knows: their cosine."""

from __future__ import annotations

from types import SimpleNamespace

import torch
from transformers import AutoModel
from transformers.utils import logging as transformers_logging

START_SLOPE, START_COSINE = 10.0, 0.8  # texts read together come out more alike than apart


class PairClassifier(torch.nn.Module):
    """Labels of a pair, from both texts' mean vectors (u, v) and the first token, all taken in the joint reading.

    A linear head over [u * v, |u - v|, u, v, first]. A head over the first token alone, as BERT has it, learned
    nothing of relevance in 3,000 pairs: this encoder was trained by mean vectors, its first token means little. The
    head starts as a slope over the cosine of u and v for the first label, so that training starts at the encoder's
    own quality and not at chance.

    Parameters
    ----------
    encoder
        A BERT-like encoder of width d.
    labels
        Number of labels.
    """

    def __init__(self, encoder: torch.nn.Module, labels: int):
        super().__init__()
        self.encoder = encoder
        self.width = encoder.config.hidden_size
        self.head = torch.nn.Linear(5 * self.width, labels)
        with torch.no_grad():
            self.head.weight.zero_()
            self.head.bias.zero_()
            self.head.weight[0, : self.width] = START_SLOPE / self.width
            self.head.bias[0] = -START_SLOPE * START_COSINE

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor, token_type_ids: torch.Tensor
    ) -> SimpleNamespace:
        """Return an object with ``logits``, (n, labels); ``token_type_ids`` tells the two texts apart."""
        # the encoder itself never saw a second token type: both texts get the first
        states = self.encoder(
            input_ids=input_ids, attention_mask=attention_mask, token_type_ids=torch.zeros_like(token_type_ids)
        ).last_hidden_state
        second = (token_type_ids * attention_mask).to(states.dtype)
        first = attention_mask.to(states.dtype) - second
        u, v = self._unit(_sum(states, first)), self._unit(_sum(states, second))
        root = self.width**0.5  # brings the entries of all parts to the order of 1
        parts = [u * v * self.width, (u - v).abs() * root, u * root, v * root, self._unit(states[:, 0]) * root]
        return SimpleNamespace(logits=self.head(torch.cat(parts, dim=1).to(self.head.weight.dtype)))

    @staticmethod
    def _unit(vectors: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.normalize(vectors.float(), dim=1)


def load_pair_classifier(path: str, labels: int, **settings) -> PairClassifier:
    """Return a fresh classifier over the encoder at ``path``, without chatter."""
    before = transformers_logging.get_verbosity()
    transformers_logging.set_verbosity_error()
    transformers_logging.disable_progress_bar()
    try:
        encoder = AutoModel.from_pretrained(path, add_pooling_layer=False, **settings)
    finally:
        transformers_logging.set_verbosity(before)
    return PairClassifier(encoder, labels)


def _sum(states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return torch.einsum("nld,nl->nd", states, mask)
