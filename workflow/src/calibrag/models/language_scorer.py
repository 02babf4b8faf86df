"""A causal language model as a scorer: how probable is each of many continuations of one text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig
from transformers.utils import logging as transformers_logging

from calibrag.errors import MissingModelError
from calibrag.models.locate import locate

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}


class Scores(NamedTuple):
    """Summed log-probabilities of the continuations, and the tokens that the call computed."""

    log_probabilities: list[float]
    tokens: int


class LanguageScorer:
    """Log-probabilities of continuations under a causal language model.

    The prefix that all texts share is computed once and kept. The continuations of a text are packed into one
    sequence behind it, each seeing the text and itself only (a tree of attention), so that a call is one forward
    pass and no key or value is copied.

    Parameters
    ----------
    name
        A model as ``models.locate`` reads it; a ``.gguf`` file is unpacked into ``dtype``.
    prefix
        Text before every text that is scored, such as worked examples.
    dtype
        ``float32`` or ``bfloat16``.
    threads
        Threads of torch; they are set for the whole process.

    Raises
    ------
    MissingModelError
        The model is not on this machine and cannot be fetched.
    """

    def __init__(self, name: str, prefix: str, *, dtype: str, threads: int):
        torch.set_num_threads(threads)
        transformers_logging.disable_progress_bar()
        self.name = name
        source, options = _source(locate(name))
        try:
            self._tokenizer = AutoTokenizer.from_pretrained(source, **options)
            if options:
                # packed weights would be unpacked in every product, and in single precision
                options["quantization_config"] = GgufConfig(dequantize=True)
            model = AutoModelForCausalLM.from_pretrained(source, dtype=DTYPES[dtype], **options)
        except (OSError, ValueError) as error:
            raise MissingModelError(f"model {name}: cannot be loaded ({error})") from error
        self._model = model.eval()
        self._dtype = DTYPES[dtype]
        prefix_ids = self._ids(prefix)
        self._prefix_length = len(prefix_ids)
        with torch.inference_mode():
            self._cache = self._model.model(torch.tensor([prefix_ids]), use_cache=True).past_key_values

    @torch.inference_mode()
    def score(self, text: str, continuations: Sequence[str]) -> Scores:
        """Return ln P(continuation | prefix, text) of each continuation, summed over its tokens."""
        text_ids = self._ids(text)
        branches = [self._ids(continuation) for continuation in continuations]
        packed = text_ids + [token for branch in branches for token in branch]
        hidden = self._model.model(
            torch.tensor([packed]),
            past_key_values=self._cache,
            position_ids=self._positions(len(text_ids), branches),
            attention_mask=self._mask(len(text_ids), branches),
            use_cache=True,
        ).last_hidden_state[0]
        self._cache.crop(-len(packed))
        # the token before each token of a branch: within the branch, or the last of the text
        before, start = [], len(text_ids)
        for branch in branches:
            before += [len(text_ids) - 1, *range(start, start + len(branch) - 1)]
            start += len(branch)
        targets = torch.tensor(packed[len(text_ids) :])
        logits = self._model.lm_head(hidden[before]).float()
        picked = torch.log_softmax(logits, dim=-1)[torch.arange(len(targets)), targets]
        sums = [float(part.sum()) for part in picked.split([len(branch) for branch in branches])]
        return Scores(sums, len(packed))

    def _ids(self, text: str) -> list[int]:
        return self._tokenizer(text, add_special_tokens=False).input_ids

    def _positions(self, length: int, branches: Sequence[Sequence[int]]) -> torch.Tensor:
        first = self._prefix_length
        positions = list(range(first, first + length))
        for branch in branches:
            positions += range(first + length, first + length + len(branch))
        return torch.tensor([positions])

    def _mask(self, length: int, branches: Sequence[Sequence[int]]) -> torch.Tensor:
        """Return the additive mask (1, 1, new, prefix + new): 0 where a token is seen, -inf elsewhere."""
        lengths = [length, *map(len, branches)]
        hidden = torch.full((sum(lengths), sum(lengths)), float("-inf"), dtype=self._dtype)
        hidden[length:, :length] = 0
        start = 0
        for size in lengths:
            own = slice(start, start + size)
            hidden[own, own] = torch.triu(hidden[own, own], 1)
            start += size
        prefix = torch.zeros(sum(lengths), self._prefix_length, dtype=self._dtype)
        return torch.cat([prefix, hidden], dim=1)[None, None]


def _source(path: str) -> tuple[str, dict]:
    """Return what ``from_pretrained`` takes: a folder and the name of the file in it for a GGUF file."""
    if path.endswith(".gguf"):
        return str(Path(path).parent), {"gguf_file": Path(path).name}
    return path, {}
