"""Sentence embeddings by sentence-transformers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from sentence_transformers import SentenceTransformer
from transformers.utils import logging as transformers_logging

from calibrag.errors import ConfigError, MissingModelError
from calibrag.models.locate import check_sha256, locate

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}


class SentenceEmbedder:
    """A sentence-transformers model that turns texts into unit vectors.

    The same texts in the same call give the same vectors. A text's vector differs with its companions in a
    batch, since they decide how it is padded: in the last digits of float32, in the third decimal of
    bfloat16. With a ``batch_size`` of 1 it has no companions and is always the same.

    Parameters
    ----------
    name
        A model as `calibrag.models.locate.locate` reads it.
    sha256
        What ``model.safetensors`` must hash to; None: not checked.
    dtype
        ``float32`` or ``bfloat16``, the arithmetic of the network.
    device
        ``cpu``, ``cuda``, ``cuda:1``, ... as torch names them.
    threads
        Threads of torch on the CPU; they are set for the whole process.
    batch_size
        Texts that the network takes at once; they are sorted by length first.
    max_seq_length
        Tokens read of a text; the rest is cut.

    Raises
    ------
    MissingModelError
        The model is not on this machine and cannot be fetched, or is another than its hash says.
    """

    def __init__(
        self,
        name: str,
        *,
        sha256: str | None,
        dtype: str,
        device: str,
        threads: int,
        batch_size: int,
        max_seq_length: int,
    ):
        if dtype not in DTYPES:
            raise ConfigError("models.embedder.dtype", f"must be one of {', '.join(DTYPES)} (got {dtype!r})")
        torch.set_num_threads(threads)
        self.name = name
        self.batch_size = batch_size
        path = locate(name)
        if sha256 is not None:
            check_sha256(Path(path) / "model.safetensors", sha256)
        transformers_logging.disable_progress_bar()  # it fills log files with half-drawn bars
        try:
            self._model = SentenceTransformer(
                path, device=device, model_kwargs={"dtype": DTYPES[dtype]}, local_files_only=Path(path).exists()
            )
        except (OSError, ValueError) as error:
            raise MissingModelError(
                f"model {name}: cannot be loaded ({error}); name a sentence-transformers model that is on this machine,"
                " or one of the hub where there is a network"
            ) from error
        self._model.max_seq_length = max_seq_length
        self._model.eval()
        self.dimension = self._model.get_embedding_dimension()

    def encode(self, texts: list[str]) -> np.ndarray:
        """Return an array (n, dimension) of float32 with rows of length 1."""
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        vectors = self._model.encode(texts, batch_size=self.batch_size, convert_to_tensor=True, show_progress_bar=False)
        # normalised here and not by the model: in bfloat16 the lengths would be off by half a percent
        return torch.nn.functional.normalize(vectors.float(), dim=1).cpu().numpy()
