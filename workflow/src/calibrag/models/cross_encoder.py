"""A model that reads two texts together and says how they belong: relevance, or entailment.

Either a small adapter over a MiniLM encoder (the embedded default; ``adapter_training.py`` makes one), or any
sequence classifier of the Hugging Face hub named in the configuration.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from calibrag.errors import ConfigError, MissingModelError
from calibrag.models.locate import check_sha256, locate
from calibrag.models.pair_classifier import load_pair_classifier

WEIGHTS_FILE = "adapter.safetensors"
CARD_FILE = "card.json"
LORA_A, LORA_B = ".lora_A", ".lora_B"

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}

# Texts are padded to one of these lengths and never to their own: oneDNN plans each new shape anew,
# which made varying shapes several times slower, and a text's padding must not depend on its batch.
LENGTHS = (32, 48, 64, 80, 96, 112, 128, 160, 192, 256, 384, 512)


def padded_length(tokens: int, max_length: int) -> int:
    """Return the length that a pair of this many tokens is padded to, at most ``max_length``."""
    return min([length for length in LENGTHS if length >= tokens] + [max_length])


class CrossEncoder:
    """Scores of pairs of texts.

    Parameters
    ----------
    base
        The encoder, as ``locate`` reads it. Without an adapter: a ready sequence classifier.
    adapter
        Folder with ``adapter.safetensors`` and ``card.json``, or None.
    max_length
        Longest pair in tokens; the longer text of a longer pair is cut.
    batch_size
        Pairs a forward pass. On a CPU 4 are as fast as 32 for each pair, and waste less where a call has few; fewer
        than 4 are slower, and not always the same to the last bit.
    dtype
        ``float32`` or ``bfloat16``.
    threads
        Threads that torch may use; it is a setting of the whole process.
    device
        A torch device such as ``cpu`` or ``cuda``.
    label_names
        For a classifier of the hub: its own label names to ours (``{"entailment": "entails", ...}``). None
        keeps its names; a classifier with a single output is called ``relevant``.

    Attributes
    ----------
    labels : list of str
        Names of the columns of ``scores``.

    Raises
    ------
    MissingModelError
        Base or adapter is not there, or the adapter was trained on another base.
    ConfigError
        Unknown dtype, or ``label_names`` that do not fit the classifier.
    """

    def __init__(
        self,
        base: str,
        adapter: str | Path | None,
        max_length: int,
        batch_size: int,
        dtype: str,
        threads: int,
        device: str = "cpu",
        label_names: Mapping[str, str] | None = None,
    ):
        if dtype not in DTYPES:
            raise ConfigError("models", f"dtype must be one of {', '.join(DTYPES)} (got {dtype!r})")
        torch.set_num_threads(threads)
        path = locate(base)
        if adapter is None:
            model = _load(path, base)
            self.labels = _classifier_labels(model.config, label_names, base)
        else:
            card = read_card(adapter)
            check_base(path, card, adapter)
            self.labels = list(card["labels"])
            model = merge_adapter(_load(path, base, len(self.labels)), adapter, card)
        self.max_length = max_length
        self.batch_size = batch_size
        self.device = device
        self._model = model.to(device=device, dtype=DTYPES[dtype]).eval()
        self._tokenizer = AutoTokenizer.from_pretrained(path)

    def scores(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        """Return probabilities, (n pairs, n labels) float32: a sigmoid for one label, else a softmax.

        A pair's score is the same to the last bit whatever pairs are asked with it, so that a job taken up again
        ends as it would have ended: its padding is its own, and each forward pass has ``batch_size`` rows, the last one
        filled up. Measured on a CPU, single precision differs in its last bits between passes of one or two rows and
        passes of more, never with a row's place.
        """
        if not pairs:
            return np.zeros((0, len(self.labels)), dtype=np.float32)
        encoded = self._tokenizer(
            [first for first, _ in pairs],
            [second for _, second in pairs],
            truncation="longest_first",
            max_length=self.max_length,
        )
        buckets: dict[int, list[int]] = {}
        for index, ids in enumerate(encoded["input_ids"]):
            buckets.setdefault(padded_length(len(ids), self.max_length), []).append(index)
        out = np.empty((len(pairs), len(self.labels)), dtype=np.float32)
        for length in sorted(buckets, reverse=True):
            rows = buckets[length]
            for start in range(0, len(rows), self.batch_size):
                chosen = rows[start : start + self.batch_size]
                out[chosen] = self._forward({name: [encoded[name][i] for i in chosen] for name in encoded}, length)
        return out

    def _forward(self, columns: Mapping[str, list[list[int]]], length: int) -> np.ndarray:
        count = len(columns["input_ids"])
        padded = {name: values + values[:1] * (self.batch_size - count) for name, values in columns.items()}
        batch = self._tokenizer.pad(padded, padding="max_length", max_length=length, return_tensors="pt")
        with torch.inference_mode():
            # in double precision, and before rows are dropped: torch computes the last few of an array in another way
            logits = self._model(**batch.to(self.device)).logits.double()
        probabilities = torch.sigmoid(logits) if logits.shape[1] == 1 else torch.softmax(logits, dim=1)
        return probabilities[:count].float().cpu().numpy()


def read_card(adapter: str | Path) -> dict:
    """Return the card of an adapter.

    Raises
    ------
    MissingModelError
        The folder lacks the card or the weights.
    """
    folder = Path(adapter)
    for name in (CARD_FILE, WEIGHTS_FILE):
        if not (folder / name).is_file():
            raise MissingModelError(
                f"adapter {folder}: {name} is not there; restore the shipped one (`git checkout -- {folder}`), train"
                f" one (`snakemake --cores 2 results/models/{folder.name}/card.json`), or name another in config.yaml"
            )
    return json.loads((folder / CARD_FILE).read_text(encoding="utf-8"))


def check_base(path: str, card: Mapping, adapter: str | Path) -> None:
    """Raise MissingModelError unless the base weights at ``path`` are those that the adapter was trained on."""
    try:
        check_sha256(Path(path) / "model.safetensors", card["base"]["sha256"])
    except MissingModelError as error:
        raise MissingModelError(
            f"adapter {adapter} was trained on {card['base']['name']} and gives nonsense on any other base: {error}"
        ) from None


def merge_adapter(model: torch.nn.Module, adapter: str | Path, card: Mapping) -> torch.nn.Module:
    """Return the model with the adapter's low-rank products added in and its whole tensors put in place.

    Merged by hand, as W + (alpha / rank) B A (Hu et al. 2022, arXiv 2106.09685), so that running needs no peft.
    """
    tensors = {name: tensor.float() for name, tensor in load_file(Path(adapter) / WEIGHTS_FILE).items()}
    parameters = dict(model.named_parameters())
    scale = card["alpha"] / card["rank"] if card["rank"] else 0.0
    with torch.no_grad():
        for name, tensor in tensors.items():
            if name.endswith(LORA_A):
                module = name.removesuffix(LORA_A)
                parameters[f"{module}.weight"] += scale * (tensors[module + LORA_B] @ tensor)
            elif not name.endswith(LORA_B):
                parameters[name].copy_(tensor)
    return model


def _load(path: str, name: str, labels: int | None = None) -> torch.nn.Module:
    try:
        if labels is None:
            return AutoModelForSequenceClassification.from_pretrained(path)
        return load_pair_classifier(path, labels)
    except OSError as error:
        raise MissingModelError(
            f"model {name}: not on this machine and not to be had from the hub ({error}); download it on a machine with"
            " a network, or name a model that is here in config.yaml"
        ) from error


def _classifier_labels(config, label_names: Mapping[str, str] | None, name: str) -> list[str]:
    own = [config.id2label[index] for index in range(config.num_labels)]
    if len(own) == 1:
        return ["relevant"]
    if label_names is None:
        return own
    missing = [label for label in own if label not in label_names]
    if missing:
        raise ConfigError(
            "models", f"label_names of {name} must name each of its labels {own} (missing: {', '.join(missing)})"
        )
    return [label_names[label] for label in own]
