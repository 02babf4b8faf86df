"""A causal language model as a scorer: how probable is each of many continuations of one text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig, PreTrainedModel, PreTrainedTokenizerBase
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

    Parameters
    ----------
    name
        What records call the model.
    model
        Where it lies: a folder that `unpack` wrote, or a name as ``models.locate`` reads it.
    dtype
        ``float32`` or ``bfloat16``.
    threads
        Threads of torch; they are set for the whole process.

    Raises
    ------
    MissingModelError
        The model is not on this machine.
    """

    def __init__(self, name: str, model: str | Path, *, dtype: str, threads: int):
        torch.set_num_threads(threads)
        self.name = name
        self._tokenizer, loaded = load(str(model), dtype)
        self._model = loaded.eval()

    @torch.inference_mode()
    def score(self, text: str, continuations: Sequence[str]) -> Scores:
        """Return ln P(continuation | text) of each continuation, summed over its tokens."""
        packed = pack(self._tokenizer, text, continuations)
        return Scores(log_probabilities(self._model, packed).tolist(), len(packed.tokens))


class Packed(NamedTuple):
    """A text and its continuations in one sequence: ``length`` tokens of text, then ``branches`` one by one."""

    tokens: list[int]
    length: int
    branches: list[int]


def pack(tokenizer: PreTrainedTokenizerBase, text: str, continuations: Sequence[str]) -> Packed:
    """Return the text and its continuations as one sequence of tokens."""
    # together, since each call of a tokeniser costs more than the tokens of a short continuation
    ids, *branches = tokenizer([text, *continuations], add_special_tokens=False).input_ids
    tokens = ids + [token for branch in branches for token in branch]
    return Packed(tokens, len(ids), [len(branch) for branch in branches])


def log_probabilities(model: PreTrainedModel, packed: Packed) -> torch.Tensor:
    """Return the summed log-probability of each continuation, a tensor (n,); differentiable.

    Every continuation sees the text and itself only, as if it stood right behind the text: one forward pass scores
    them all, and the keys and values of the text are computed once and copied never.
    """
    length, branches = packed.length, packed.branches
    hidden = model.model(
        torch.tensor([packed.tokens]),
        position_ids=_positions(length, branches),
        attention_mask=_mask(length, branches, model.dtype),
        use_cache=False,
    ).last_hidden_state[0]
    # the token before each token of a branch: within the branch, or the last of the text
    before, start = [], length
    for size in branches:
        before += [length - 1, *range(start, start + size - 1)]
        start += size
    targets = torch.tensor(packed.tokens[length:])
    logits = model.lm_head(hidden[before]).float()
    picked = torch.log_softmax(logits, dim=-1)[torch.arange(len(targets)), targets]
    return torch.stack([part.sum() for part in picked.split(branches)])


def load(name: str, dtype: str) -> tuple[PreTrainedTokenizerBase, PreTrainedModel]:
    """Return tokenizer and model of a name.

    Raises
    ------
    MissingModelError
        The model is not on this machine and cannot be fetched.
    """
    transformers_logging.disable_progress_bar()
    path = locate(name)
    options, quantisation = {}, {}
    if path.endswith(".gguf"):
        path, options = str(Path(path).parent), {"gguf_file": Path(path).name}
        # packed weights would be unpacked in every product, and in single precision
        quantisation = {"quantization_config": GgufConfig(dequantize=True)}
    try:
        tokenizer = AutoTokenizer.from_pretrained(path, **options)
        model = AutoModelForCausalLM.from_pretrained(path, dtype=DTYPES[dtype], **options, **quantisation)
    except (OSError, ValueError) as error:
        raise MissingModelError(f"model {name}: cannot be loaded ({error})") from error
    return tokenizer, model


def unpack(name: str, adapter: str | Path | None, dtype: str, output: str | Path) -> None:
    """Write a model, its adapter merged into the weights, into the folder ``output``, from which it loads in a second.

    Parsing a GGUF file and its tokeniser takes a quarter of a minute, which every job would spend anew.

    Parameters
    ----------
    adapter
        Folder of a LoRA adapter; None: the model as it is.

    Raises
    ------
    MissingModelError
        The model or the adapter is not on this machine.
    """
    from peft import PeftModel  # slow to import, and needed here only

    tokenizer, model = load(name, dtype)
    if adapter is not None:
        if not (Path(adapter) / "adapter_config.json").is_file():
            raise MissingModelError(
                f"adapter {adapter}: holds no adapter_config.json; set models.reader.adapter to a folder that "
                "`snakemake --cores 2 results/models/reader/card.json` made, or to null for the model as it is"
            )
        model = PeftModel.from_pretrained(model, str(adapter)).merge_and_unload()
    # the quantisation of the file that was read says nothing about the weights that are written
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    model.save_pretrained(str(output))
    tokenizer.save_pretrained(str(output))


def _positions(length: int, branches: Sequence[int]) -> torch.Tensor:
    positions = list(range(length))
    for size in branches:
        positions += range(length, length + size)
    return torch.tensor([positions])


def _mask(length: int, branches: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
    """Return the additive mask (1, 1, tokens, tokens): 0 where a token is seen, -inf elsewhere."""
    size = length + sum(branches)
    mask = torch.full((size, size), float("-inf"), dtype=dtype)
    mask[length:, :length] = 0
    start = 0
    for part in (length, *branches):
        own = slice(start, start + part)
        mask[own, own] = torch.triu(mask[own, own], 1)
        start += part
    return mask[None, None]
