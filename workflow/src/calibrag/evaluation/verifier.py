"""How good a verifier is on labelled claims, beside the cosine and the shared words of the same windows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from calibrag.evaluation import bootstrap
from calibrag.evaluation.held_out_claims import LABELS, overlapping
from calibrag.models.training_data import ENTAILS, Pair
from calibrag.models.word_overlap import shared_words
from calibrag.verification.entailment import EntailmentVerifier, windows

Encode = Callable[[list[str]], np.ndarray]


def open_verifiers(
    settings: Mapping[str, Any], compared: Sequence[Mapping[str, Any]], device: str, threads: int
) -> dict[str, EntailmentVerifier]:
    """Return the verifiers to measure by name: ``verifier``, the first model by itself; ``cascade``, where there is a
    second; and each classifier of ``compared``, on windows of the same length, by its adapter or its base.

    Raises
    ------
    MissingModelError
        A model that the configuration names is not on this machine.
    """
    alone = {"verifier": settings | {"second": None}}
    cascade = {"cascade": settings} if settings["second"] else {}
    others = {block["adapter"] or block["base"]: settings | {"encoder": block, "second": None} for block in compared}
    return {name: EntailmentVerifier.open(block, device, threads) for name, block in (alone | cascade | others).items()}


def score_claims(
    pairs: Sequence[Pair],
    trained_on: Iterable[Pair],
    verifiers: Mapping[str, EntailmentVerifier],
    encode: Encode,
    chunk_words: int,
) -> pd.DataFrame:
    """Return one row a pair and scorer: the verifiers by their names, ``cosine`` and ``words``.

    Parameters
    ----------
    trained_on
        Pairs whose claims must not count.
    encode
        From texts to unit vectors, (n, d).
    chunk_words
        Most words of the windows of which cosine and shared words take the best.

    Returns
    -------
    pandas.DataFrame
        Columns data, group (pairs of one claim, or of claims about one question, share it), label, left_out (its claim
        was trained on), scorer, score (higher: sooner entailed), second (the cascade's second model decided).
    """
    texts = [(pair.first, pair.second) for pair in pairs]
    cut = [windows(premise, chunk_words) for premise, _ in texts]
    scores = {
        "cosine": _cosine(cut, [claim for _, claim in texts], encode),
        "words": [
            max((shared_words(w, claim) for w in own), default=0.0) for own, (_, claim) in zip(cut, texts, strict=True)
        ],
    }
    table = pd.DataFrame(
        {
            "data": [pair.source for pair in pairs],
            "group": _groups(pairs),
            "label": [pair.label for pair in pairs],
            "left_out": overlapping(pairs, trained_on),
        }
    )
    parts = []
    for name, verifier in verifiers.items():
        found = verifier.entail(texts)
        parts.append(table.assign(scorer=name, score=[e.score for e in found], second=[e.second for e in found]))
    parts += [table.assign(scorer=name, score=values, second=False) for name, values in scores.items()]
    return pd.concat(parts, ignore_index=True)


def summarise_verifiers(
    scores: pd.DataFrame, threshold: float, resamples: int, level: float, seed: int
) -> pd.DataFrame:
    """Return one row a set and scorer; pairs that were left out are counted and nothing else.

    Returns
    -------
    pandas.DataFrame
        Columns data, scorer, n, groups, n_left_out, ``n_{label}`` of each label that any set has, n_second; ``auroc``
        of entailed claims against all others, with its percentile interval over groups; ``macro``, the mean of the
        AUROCs against each other label by itself; ``balanced_accuracy`` from ``threshold`` on. None where a set lacks
        a class.
    """
    labels = [label for label in LABELS if (scores["label"] == label).any()]
    rows = []
    for (data, scorer), found in scores.groupby(["data", "scorer"], sort=False):
        kept = found[~found["left_out"]]
        positive, values = (kept["label"] == ENTAILS).to_numpy(), kept["score"].to_numpy(float)
        groups, owner = np.unique(kept["group"], return_inverse=True)
        row = {"data": data, "scorer": scorer, "n": len(kept), "groups": len(groups)}
        row |= {"n_left_out": len(found) - len(kept)}
        row |= {f"n_{label}": int((kept["label"] == label).sum()) for label in labels}
        row |= {"n_second": int(kept["second"].sum()), "auroc": None, "auroc_low": None, "auroc_high": None}
        row |= {"macro": None, "balanced_accuracy": None}
        if positive.any() and not positive.all():
            index = bootstrap.resamples(len(groups), resamples, seed)
            row["auroc"] = float(weighted_auroc(positive, values, np.ones((1, len(kept))))[0])
            drawn = _resampled_auroc(positive, values, owner, index)
            if not np.isnan(drawn).any():
                row["auroc_low"], row["auroc_high"] = bootstrap.interval(drawn, level)
            others = [label for label in labels if label != ENTAILS and (kept["label"] == label).any()]
            against = [positive | (kept["label"] == label).to_numpy() for label in others]
            single = [weighted_auroc(positive[i], values[i], np.ones((1, i.sum())))[0] for i in against]
            row["macro"] = float(np.mean(single))
            said = values >= threshold
            row["balanced_accuracy"] = float((said[positive].mean() + (~said[~positive]).mean()) / 2)
        rows.append(row)
    return pd.DataFrame(rows).sort_values("data", kind="stable", ignore_index=True)


def weighted_auroc(positive: NDArray, scores: NDArray, weights: NDArray) -> NDArray:
    """Return the AUROC under each row of weights, shape (b,): the share of pairs in order, ties counting half.

    Parameters
    ----------
    positive, scores
        Of shape (n,).
    weights
        Of shape (b, n), 0 or more; a row without weight on either class gives NaN.
    """
    order = np.argsort(scores, kind="stable")
    starts = np.flatnonzero(np.diff(scores[order], prepend=-np.inf))
    good = np.add.reduceat(weights[:, order] * positive[order], starts, axis=1)
    bad = np.add.reduceat(weights[:, order] * ~positive[order], starts, axis=1)
    below = np.cumsum(bad, axis=1) - bad / 2
    with np.errstate(invalid="ignore"):
        return (good * below).sum(axis=1) / (good.sum(axis=1) * bad.sum(axis=1))


def _resampled_auroc(positive: NDArray, scores: NDArray, owner: NDArray, index: NDArray) -> NDArray:
    """Return the AUROC of each resample of the groups, with all pairs of each."""
    step = max(1, 2_000_000 // len(scores))
    out = []
    for start in range(0, len(index), step):
        block = index[start : start + step]
        places = block + np.arange(len(block))[:, None] * block.shape[1]
        drawn = np.bincount(places.ravel(), minlength=block.size).reshape(block.shape)
        out.append(weighted_auroc(positive, scores, drawn[:, owner]))
    return np.concatenate(out)


def _groups(pairs: Sequence[Pair]) -> list[str]:
    """Return the group of each pair: that of the first pair with the same claim, for some sets number their pairs."""
    first: dict[str, str] = {}
    return [first.setdefault(f"{pair.source} {pair.second}", pair.group) for pair in pairs]


def _cosine(cut: Sequence[Sequence[str]], claims: Sequence[str], encode: Encode) -> list[float]:
    texts = list(dict.fromkeys([*claims, *(window for own in cut for window in own)]))
    place = {text: number for number, text in enumerate(texts)}
    vectors = encode(texts)
    return [
        float((vectors[[place[window] for window in own]] @ vectors[place[claim]]).max()) if own else 0.0
        for own, claim in zip(cut, claims, strict=True)
    ]
