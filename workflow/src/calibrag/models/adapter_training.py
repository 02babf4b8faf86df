"""Training of a small adapter over a frozen encoder: low-rank updates of its linear layers and a new head."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch
from peft import LoraConfig, get_peft_model
from safetensors.torch import save_file
from transformers import AutoTokenizer

from calibrag.models.cross_encoder import CARD_FILE, LORA_A, LORA_B, WEIGHTS_FILE, padded_length
from calibrag.models.locate import locate
from calibrag.models.pair_classifier import load_pair_classifier
from calibrag.models.training_data import Pair
from calibrag.records import read_jsonl

RELEVANT = "relevant"


def train_adapter(
    data: str | Path,
    base: str,
    output: str | Path,
    *,
    labels: Sequence[str],
    rank: int,
    alpha: float,
    learning_rate: float,
    warmup_share: float,
    weight_decay: float,
    epochs: int,
    batch_size: int,
    max_length: int,
    seed: int,
    threads: int,
    max_steps: int | None = None,
    report: Callable[[str], None] = print,
) -> list[float]:
    """Train an adapter, write ``adapter.safetensors`` and ``card.json`` into ``output``, return the loss of each step.

    Parameters
    ----------
    data
        Pair file (``training_data.Pair`` as JSON Lines).
    base
        The encoder, as ``locate`` reads it; its linear layers get low-rank updates, the rest stays frozen.
    labels
        Names of the outputs. One label: the pairs with that label against all others, a logistic loss; else a softmax.
    rank, alpha
        Rank and scale (alpha / rank) of the updates; rank 0 tunes all weights of the encoder's layers instead.
    warmup_share
        Share of the steps over which the learning rate rises linearly; it falls linearly to 0 after that.
    max_length
        Longest pair in tokens; the longer text of a longer pair is cut.
    seed
        Of the head, the updates and the order of batches: with one thread, the same seed gives the same adapter.
    max_steps
        Stop early after this many steps, for tests; None for all.

    Notes
    -----
    Batches hold pairs of one padded length: with varying shapes, bfloat16 on a CPU fell to a sixth of its speed.
    """
    torch.set_num_threads(threads)
    torch.manual_seed(seed)
    path = locate(base)
    pairs = list(read_jsonl(data, Pair))
    model = _adapted(path, len(labels), rank, alpha)
    batches = _batches(pairs, AutoTokenizer.from_pretrained(path), batch_size, max_length)
    targets = _targets(pairs, labels)
    steps = epochs * len(batches)
    optimizer = torch.optim.AdamW(
        [parameter for parameter in model.parameters() if parameter.requires_grad],
        lr=learning_rate,
        weight_decay=weight_decay,
    )
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: _rate(step, steps, warmup_share))
    order = np.random.default_rng(seed)
    losses: list[float] = []
    model.train()
    for epoch in range(epochs):
        for position in order.permutation(len(batches)):
            rows, columns = batches[position]
            losses.append(_step(model, columns, targets[rows], optimizer, schedule))
            if len(losses) % 50 == 0:
                report(f"step {len(losses)}/{steps}, epoch {epoch + 1}, loss {np.mean(losses[-50:]):.4f}")
            if len(losses) == max_steps:
                break
        if len(losses) == max_steps:
            break
    _write(
        model,
        Path(output),
        {
            "labels": list(labels),
            "base": {"name": base, "sha256": _sha256(Path(path) / "model.safetensors")},
            "data": {
                "file": Path(data).name,
                "sha256": _sha256(Path(data)),
                "pairs": len(pairs),
                "by_source_and_label": _counts(pairs),
            },
            "rank": rank,
            "alpha": alpha,
            "seed": seed,
            "learning_rate": learning_rate,
            "warmup_share": warmup_share,
            "weight_decay": weight_decay,
            "epochs": epochs,
            "batch_size": batch_size,
            "max_length": max_length,
            "steps": len(losses),
            "final_loss": round(float(np.mean(losses[-50:])), 4),
        },
    )
    return losses


def _adapted(path: str, labels: int, rank: int, alpha: float) -> torch.nn.Module:
    # no dropout: a few epochs over a frozen encoder hardly overfit, and drawing masks costs time on a CPU
    model = load_pair_classifier(path, labels, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    if not rank:
        for parameter in model.encoder.embeddings.parameters():
            parameter.requires_grad_(False)
        return model
    settings = LoraConfig(
        r=rank,
        lora_alpha=alpha,
        lora_dropout=0.0,
        target_modules=r".*encoder\.layer.*\.(query|key|value|dense)",
        modules_to_save=["head"],
    )
    return get_peft_model(model, settings)


def _targets(pairs: Sequence[Pair], labels: Sequence[str]) -> torch.Tensor:
    if len(labels) == 1:
        return torch.tensor([float(pair.label == labels[0]) for pair in pairs])
    places = {label: index for index, label in enumerate(labels)}
    return torch.tensor([places[pair.label] for pair in pairs])


def _batches(pairs: Sequence[Pair], tokenizer, batch_size: int, max_length: int):
    """Return (rows, padded columns) with batches of equal shape; leftovers move up to the next length."""
    encoded = tokenizer(
        [pair.first for pair in pairs],
        [pair.second for pair in pairs],
        truncation="longest_first",
        max_length=max_length,
    )
    buckets: dict[int, list[int]] = {}
    for row, ids in enumerate(encoded["input_ids"]):
        buckets.setdefault(padded_length(len(ids), max_length), []).append(row)
    batches, carried = [], []
    for length in sorted(buckets):
        # neighbours in the file share a question: spread them, so that a batch mixes sources and labels
        rows = carried + buckets[length]
        rows = [rows[place] for place in np.random.default_rng(length).permutation(len(rows))]
        whole = len(rows) if length == max(buckets) else len(rows) - len(rows) % batch_size
        carried = rows[whole:]
        for start in range(0, whole, batch_size):
            chosen = rows[start : min(start + batch_size, whole)]
            columns = {name: [encoded[name][row] for row in chosen] for name in encoded}
            batches.append(
                (
                    chosen,
                    tokenizer.pad(columns, padding="max_length", max_length=length, return_tensors="pt"),
                )
            )
    return batches


def _rate(step: int, steps: int, warmup_share: float) -> float:
    warmup = max(1, math.ceil(warmup_share * steps))
    return min((step + 1) / warmup, max(0.0, (steps - step) / max(1, steps - warmup)))


def _step(model, columns, targets, optimizer, schedule) -> float:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        logits = model(**columns).logits
    logits = logits.float()
    if logits.shape[1] == 1:
        loss = torch.nn.functional.binary_cross_entropy_with_logits(logits[:, 0], targets)
    else:
        loss = torch.nn.functional.cross_entropy(logits, targets)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    schedule.step()
    return float(loss.detach())


def _write(model: torch.nn.Module, output: Path, card: dict) -> None:
    tensors = {}
    for name, parameter in model.named_parameters():
        if not parameter.requires_grad:
            continue
        name = name.removeprefix("base_model.model.").replace(".modules_to_save.default", "")
        name = name.replace(".lora_A.default.weight", LORA_A).replace(".lora_B.default.weight", LORA_B)
        tensors[name] = parameter.detach().half().contiguous()
    output.mkdir(parents=True, exist_ok=True)
    save_file(tensors, output / WEIGHTS_FILE)
    text = json.dumps(card, indent=2, ensure_ascii=False, sort_keys=True)
    (output / CARD_FILE).write_text(text + "\n", encoding="utf-8")


def _counts(pairs: Sequence[Pair]) -> dict[str, dict[str, int]]:
    counts: dict[str, Counter] = {}
    for pair in pairs:
        counts.setdefault(pair.source, Counter())[pair.label] += 1
    return {source: dict(sorted(counts[source].items())) for source in sorted(counts)}


def _sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
