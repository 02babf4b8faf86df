"""Passages embedded a second on one core, by backend: torch in float32 (the named alternative) and bfloat16, OpenVINO.

    python tests/benchmarks/embedding.py [--passages 512] [--scale FOLDER]

All backends run the same network on the same passages, cut at the configured length and padded to the longest of their
batch; the cosine to torch in float32 says what a faster number format costs.
"""

from __future__ import annotations

import argparse
import os
import time
from itertools import islice
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np
import openvino
import yaml
from passages import real_passages

from calibrag.models.embedder import SentenceEmbedder
from calibrag.models.locate import locate
from calibrag.retrieval.vectors import embedding_text

CONFIG = Path(__file__).parents[2] / "config.yaml"


class OpenVino:
    """The encoder below a sentence-transformers model, converted to OpenVINO; mean pooling as MiniLM does."""

    def __init__(self, model: str, precision: str, batch_size: int, max_seq_length: int):
        from transformers import AutoModel, AutoTokenizer

        path = locate(model)
        self.batch_size = batch_size
        self.max_seq_length = max_seq_length
        self._tokenizer = AutoTokenizer.from_pretrained(path)
        example = dict(self._tokenizer(["an example"], padding="max_length", max_length=16, return_tensors="pt"))
        network = openvino.convert_model(AutoModel.from_pretrained(path).eval(), example_input=example)
        settings = {"INFERENCE_NUM_THREADS": 1, "INFERENCE_PRECISION_HINT": precision}
        self._request = openvino.Core().compile_model(network, "CPU", settings).create_infer_request()

    def encode(self, texts: list[str]) -> np.ndarray:
        """Return an array (n, dimension) of float32 with rows of length 1."""
        order = sorted(range(len(texts)), key=lambda i: -len(texts[i]))
        rows: list[np.ndarray | None] = [None] * len(texts)
        for start in range(0, len(texts), self.batch_size):
            chosen = order[start : start + self.batch_size]
            encoded = self._tokenizer(
                [texts[i] for i in chosen],
                truncation=True,
                padding=True,
                max_length=self.max_seq_length,
                return_tensors="np",
            )
            states = self._request.infer(dict(encoded))[0]
            mask = encoded["attention_mask"][:, :, None]
            vectors = (states * mask).sum(1) / mask.sum(1)
            for i, vector in zip(chosen, vectors / np.linalg.norm(vectors, axis=1, keepdims=True), strict=True):
                rows[i] = vector
        return np.stack(rows)


def main() -> None:
    """Time the backends in turn and print one line each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--passages", type=int, default=512)
    parser.add_argument("--scale", type=Path)
    arguments = parser.parse_args()
    settings = yaml.safe_load(CONFIG.read_text(encoding="utf-8"))["models"]["embedder"]
    texts = [embedding_text(p, (), 0) for p in islice(real_passages(arguments.scale), arguments.passages)]
    size = {"batch_size": settings["batch_size"], "max_seq_length": settings["max_seq_length"]}
    one_core = {"sha256": settings["sha256"], "device": "cpu", "threads": 1}
    backends = {
        "torch float32": lambda: SentenceEmbedder(settings["model"], dtype="float32", **one_core, **size),
        "torch bfloat16": lambda: SentenceEmbedder(settings["model"], dtype="bfloat16", **one_core, **size),
        "OpenVINO float32": lambda: OpenVino(settings["model"], "f32", **size),
        "OpenVINO bfloat16": lambda: OpenVino(settings["model"], "bf16", **size),
    }
    print(f"{len(texts)} passages, {sum(map(len, texts)) / len(texts):.0f} characters each, one core")
    print(f"{'backend':<20}{'passages/s':>12}{'ratio':>8}{'cosine':>9}")
    reference = first = None
    for name, opened in backends.items():
        embedder = opened()
        embedder.encode(texts[:32])  # the first call plans kernels
        start = time.perf_counter()
        vectors = embedder.encode(texts)
        rate = len(texts) / (time.perf_counter() - start)
        reference = vectors if reference is None else reference
        first = first or rate
        cosine = float(np.mean((vectors * reference).sum(1)))
        print(f"{name:<20}{rate:>12.1f}{rate / first:>8.2f}{cosine:>9.4f}")


if __name__ == "__main__":
    main()
