"""Training of the reader's adapter: the language model learns to put the right candidate first."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import torch
from peft import LoraConfig, get_peft_model
from peft.utils import get_peft_model_state_dict
from safetensors.torch import save_file

from calibrag.models.answer_reader import body, continuation
from calibrag.models.language_scorer import load, log_probabilities, pack
from calibrag.records import Record, read_jsonl


class ReadingExample(Record):
    """A question, the (title, sentence) pairs shown, and the candidates with those that are right."""

    qid: str
    source: str
    question: str
    sentences: list[tuple[str, str]]
    candidates: list[str]
    right: list[bool]


def train_reader(
    data: str | Path,
    held_out: str | Path,
    base: str,
    output: str | Path,
    *,
    targets: list[str],
    rank: int,
    alpha: int,
    learning_rate: float,
    warmup_share: float,
    batch_size: int,
    steps: int,
    seed: int,
    threads: int,
    report: Callable[[str], None] = print,
) -> list[float]:
    """Train a LoRA adapter, write it (peft's two files and ``card.json``) into ``output``; returns each step's loss.

    The loss of a question is the negative log of the probability mass, normalised over the candidates, that the
    model gives to the right ones: what the reader is used for, and not next-token prediction.

    Parameters
    ----------
    data, held_out
        ``ReadingExample`` records as JSON Lines: to learn from, and to measure the share of right answers on,
        before and after; the card states it.
    base
        A causal language model, as ``models.locate`` reads it.
    targets
        Names of the linear layers that get low-rank updates.
    rank, alpha
        Rank and scale (alpha / rank) of the updates.
    warmup_share
        Share of the steps over which the rate rises; it falls linearly to a twentieth after that.
    batch_size
        Questions a step; they are computed one by one, since their lengths differ.
    steps
        Updates; the examples are taken in a shuffled order, over and over where there are fewer.
    seed
        Of the updates and the order of the examples.
    """
    torch.set_num_threads(threads)
    torch.manual_seed(seed)
    examples, unseen = (list(read_jsonl(path, ReadingExample)) for path in (data, held_out))
    tokenizer, model = load(base, "bfloat16")
    before = accuracy(model, tokenizer, unseen)
    report(f"{before:.3f} of {len(unseen)} held-out questions right before")
    adapted = get_peft_model(
        model, LoraConfig(r=rank, lora_alpha=alpha, lora_dropout=0.0, target_modules=targets, bias="none")
    )
    weights = [parameter for parameter in adapted.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(weights, lr=learning_rate, weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: _rate(step, steps, warmup_share))
    order = _endless(examples, random.Random(seed))
    losses: list[float] = []
    while len(losses) < steps:
        total = 0.0
        for example in islice(order, batch_size):
            loss = _loss(model, tokenizer, example) / batch_size
            loss.backward()
            total += float(loss.detach())
        torch.nn.utils.clip_grad_norm_(weights, 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
        losses.append(total)
        if len(losses) % 5 == 0:
            report(f"step {len(losses)} of {steps}, loss {sum(losses[-5:]) / 5:.3f}")
    after = accuracy(model, tokenizer, unseen)
    report(f"{after:.3f} of them right after")
    _write(
        adapted,
        Path(output),
        {
            "base": base,
            "data": {
                "file": Path(data).name,
                "sha256": hashlib.sha256(Path(data).read_bytes()).hexdigest(),
                "examples": len(examples),
            },
            "held_out": {"questions": len(unseen), "right_before": before, "right_after": after},
            "targets": targets,
            "rank": rank,
            "alpha": alpha,
            "learning_rate": learning_rate,
            "warmup_share": warmup_share,
            "batch_size": batch_size,
            "steps": steps,
            "seed": seed,
            "final_loss": round(sum(losses[-10:]) / len(losses[-10:]), 4),
        },
    )
    return losses


@torch.inference_mode()
def accuracy(model, tokenizer, examples: Sequence[ReadingExample]) -> float:
    """Return the share of examples whose most probable candidate is right, in [0, 1]."""
    right = [example.right[int(_scores(model, tokenizer, example).argmax())] for example in examples]
    return sum(right) / len(right)


def _endless(examples: list[ReadingExample], order: random.Random) -> Iterator[ReadingExample]:
    while True:
        yield from order.sample(examples, len(examples))


def _loss(model, tokenizer, example: ReadingExample) -> torch.Tensor:
    scores = _scores(model, tokenizer, example)
    right = torch.tensor(example.right)
    return torch.logsumexp(scores, 0) - torch.logsumexp(scores[right], 0)


def _scores(model, tokenizer, example: ReadingExample) -> torch.Tensor:
    packed = pack(
        tokenizer,
        body(example.question, example.sentences),
        [continuation(candidate) for candidate in example.candidates],
    )
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return log_probabilities(model, packed)


def _rate(step: int, steps: int, warmup_share: float) -> float:
    warmup = max(1.0, warmup_share * steps)
    return min((step + 1) / warmup, max(0.05, (steps - step) / max(1.0, steps - warmup)))


def _write(adapted, output: Path, card: dict) -> None:
    output.mkdir(parents=True, exist_ok=True)
    # half precision: the updates are added to weights that were quantised to four bits
    tensors = {name: value.half().contiguous() for name, value in get_peft_model_state_dict(adapted).items()}
    save_file(tensors, str(output / "adapter_model.safetensors"))
    settings = adapted.peft_config["default"]
    # else the path of the base model on this machine would be written
    settings.base_model_name_or_path = card["base"]
    settings.save_pretrained(str(output))
    (output / "card.json").write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")
