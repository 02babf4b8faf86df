"""The measures of answer runs, by name: ``accHMR``, ``ECE@10``, ``ECE(binning=mass)``, ``HMR(unsupported=leave_out)``.

`parse_measure` turns a name into a measure, and ``str()`` turns it back. A measure takes `Answers` or plain arrays of
shape (..., n) and returns shape (...); NaN where it is undefined.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibrag.configuration import nearest
from calibrag.errors import CalibragError
from calibrag.evaluation import bootstrap, calibration, confidence


@dataclass(frozen=True, eq=False)
class Answers:
    """The answers of a run, or many resamples of one: arrays of shape (..., n).

    A question that is not ``counted`` has no part in anything; one that is counted but not ``filed`` is not right, and
    has a part only in the measures that need no confidence. The last three are values of each question, None where they
    are not at hand.

    With ``weights`` of shape (B, n) the arrays have shape (n,), and results shape (B,): question i stands
    ``weights[b, i]`` times in resample b.
    """

    confidence: ArrayLike
    right: ArrayLike
    filed: ArrayLike | None = None
    counted: ArrayLike | None = None
    supported: ArrayLike | None = None
    em: ArrayLike | None = None
    f1: ArrayLike | None = None
    nugget_precision: ArrayLike | None = None
    weights: NDArray | None = None

    @cached_property
    def part(self) -> NDArray:
        """Whether each question counts."""
        return np.ones(np.shape(self.right), bool) if self.counted is None else np.asarray(self.counted, bool)

    @cached_property
    def known(self) -> NDArray:
        """Whether each question counts and has a filed confidence."""
        return self.part if self.filed is None else self.part & np.asarray(self.filed, bool)

    @cached_property
    def totals(self) -> confidence.Totals:
        """Return the sums from which the HMR family follows."""
        rows = confidence.summands(self.confidence, self.right, self.filed, self.counted)
        return confidence.Totals.of(rows.sum(axis=-2) if self.weights is None else self.weights @ rows)

    @cached_property
    def tally(self) -> calibration.Tally:
        """Return the counts by confidence from which calibration measures follow."""
        if self.weights is None:
            return calibration.tally(self.confidence, self.right, self.known)
        return calibration.weighted_tally(self.confidence, self.right, self.known, self.weights)

    def mean(self, column: str) -> NDArray:
        """Return the mean of a column over the questions that count; NaN where none does, or where one has no value."""
        values = getattr(self, column)
        if values is None:
            raise ValueError(f"{column} is not at hand, so no mean of it can be taken")
        kept = np.where(self.part, np.asarray(values, float), 0.0)
        if self.weights is None:
            return confidence.ratio(kept.sum(axis=-1), self.part.sum(axis=-1))
        # a weight of 0 would not hide a NaN
        return confidence.ratio(self.weights @ kept, self.weights @ self.part.astype(float))

    @cached_property
    def of_supported(self) -> Answers:
        """Return the same without the questions that have no support in the corpus."""
        if self.supported is None:
            raise ValueError("supported is not at hand, so unsupported questions cannot be left out")
        return replace(self, counted=self.part & np.asarray(self.supported, bool))


@dataclass(frozen=True)
class _Parameter:
    default: Any
    parse: Callable[[str], Any]
    legal: str


def _choice(*options: str) -> _Parameter:
    def parse(text: str) -> str:
        if text not in options:
            raise ValueError
        return text

    return _Parameter(options[0], parse, ", ".join(options))


def _count(text: str) -> int:
    if not re.fullmatch(r"[1-9]\d*", text):
        raise ValueError
    return int(text)


@dataclass(frozen=True)
class _Family:
    """A measure follows from `totals`, or from `tally`, or is the mean of a `column` of `Answers`."""

    name: str
    meaning: str
    totals: Callable[[confidence.Totals], NDArray] | None = None
    tally: Callable[..., NDArray] | None = None
    column: str | None = None
    parameters: Mapping[str, _Parameter] = field(default_factory=dict)
    # the parameter that stands behind @
    at: str | None = None


_OF_ALL = {"parameters": {"unsupported": _choice("count", "leave_out")}}
_BINNED = {
    "parameters": {
        "bins": _Parameter(10, _count, "whole numbers from 1 on"),
        "binning": _choice("width", "mass"),
    },
    "at": "bins",
}

_FAMILIES = {
    family.name: family
    for family in (
        _Family("accuracy", "share of right answers", totals=confidence.accuracy_of, column="right", **_OF_ALL),
        _Family("R_O", "1 - mean confidence of wrong answers", totals=confidence.r_o_of, **_OF_ALL),
        _Family("R_U", "mean confidence of right answers", totals=confidence.r_u_of, **_OF_ALL),
        _Family("HMR", "harmonic mean of R_O and R_U", totals=confidence.hmr_of, **_OF_ALL),
        _Family("accHMR", "accuracy x HMR", totals=confidence.acc_hmr_of, **_OF_ALL),
        _Family("OB", "mean confidence - accuracy", totals=confidence.overconfidence_bias_of, **_OF_ALL),
        _Family("nugget_precision", "relevant among the nuggets filed, 0 where none is", column="nugget_precision"),
        _Family("EM", "exact match with a gold answer", column="em"),
        _Family("F1", "overlap of words with a gold answer", column="f1"),
        _Family("ECE", "mean |accuracy - confidence| of bins, 0 is best", tally=calibration.ece, **_BINNED),
        _Family("Brier", "mean squared error of confidence, 0 is best", tally=calibration.brier),
        _Family("AUROC", "chance that a right answer is surer than a wrong one", tally=calibration.auroc),
        _Family("AURC", "mean share of wrong among the k surest, 0 is best", tally=calibration.aurc),
        _Family("PRR", "AURC between chance (0) and an oracle (1)", tally=calibration.prr),
        _Family("Spearman", "rank correlation of confidence and right", tally=calibration.spearman),
    )
}

RANKED_BY = "accHMR"
"""The measure that places the runs of a collection."""

NAMES = tuple(_FAMILIES)
"""Names of the measures, without parameters."""


@dataclass(frozen=True)
class Measure:
    """A measure of answers with its parameters, made by `parse_measure`; two spellings of one are equal."""

    family: str
    parameters: tuple[tuple[str, Any], ...]
    text: str = field(compare=False)

    def __str__(self) -> str:
        return self.text

    def __call__(self, confidence: ArrayLike, right: ArrayLike, filed: ArrayLike | None = None) -> NDArray:
        """Return the measure of answers given as arrays of shape (..., n)."""
        return self.of(Answers(confidence, right, filed))

    def of(self, answers: Answers) -> NDArray:
        """Return the measure, shape (...), or (B,) where the answers have weights; NaN where it is undefined."""
        family = _FAMILIES[self.family]
        if family.totals is not None:
            return family.totals((answers.of_supported if self._leaves_out else answers).totals)
        if family.tally is not None:
            return family.tally(answers.tally, **dict(self.parameters))
        return answers.mean(family.column)

    @property
    def of_totals(self) -> Callable[[confidence.Totals], NDArray] | None:
        """The function of `confidence.Totals` of all questions that gives it; None where it needs more."""
        return None if self._leaves_out else _FAMILIES[self.family].totals

    @property
    def column(self) -> str | None:
        """The column of `Answers` of which it is the mean over questions; None where it is no such mean."""
        return None if self._leaves_out else _FAMILIES[self.family].column

    @property
    def meaning(self) -> str:
        """What it measures, for captions."""
        return _FAMILIES[self.family].meaning + (", unsupported questions left out" if self._leaves_out else "")

    @property
    def _leaves_out(self) -> bool:
        return ("unsupported", "leave_out") in self.parameters


def parse_measure(name: str) -> Measure:
    """Return the measure of a name; ``str()`` of it is the name as it was written.

    ``ECE@15`` is short for ``ECE(bins=15)``; what is not named has the values ``bins=10``, ``binning=width`` and
    ``unsupported=count``.

    Raises
    ------
    CalibragError
        An unknown name, parameter or value; the message has the nearest legal one.
    """
    found = re.fullmatch(r"(\w+)(?:\(([^()]*)\))?(?:@(\w+))?", name.strip())
    if not found or found[1] not in _FAMILIES:
        raise CalibragError(f"{name!r} is no measure of answers: {nearest(found[1] if found else name, NAMES)}")
    family = _FAMILIES[found[1]]
    given = [part.partition("=")[::2] for part in (found[2] or "").split(",") if part.strip()]
    if found[3] is not None:
        if family.at is None:
            raise CalibragError(f"{name!r}: {family.name} takes nothing behind @")
        given.append((family.at, found[3]))
    values: dict[str, Any] = {key: parameter.default for key, parameter in family.parameters.items()}
    keys = [key.strip() for key, _ in given]
    for key, text in zip(keys, (text.strip() for _, text in given), strict=True):
        if key not in family.parameters:
            legal = nearest(key, family.parameters) if family.parameters else "it takes none"
            raise CalibragError(f"{name!r}: {family.name} has no parameter {key!r}: {legal}")
        if keys.count(key) > 1:
            raise CalibragError(f"{name!r}: {key} is given {keys.count(key)} times, once is allowed")
        try:
            values[key] = family.parameters[key].parse(text)
        except ValueError:
            legal = family.parameters[key].legal
            raise CalibragError(f"{name!r}: {key} must be one of: {legal} (got {text!r})") from None
    return Measure(family.name, tuple(values.items()), name)


def parse_measures(names: Iterable[str]) -> list[Measure]:
    """Return the measures of several names.

    Raises
    ------
    CalibragError
        A name is unknown, or two are spellings of one measure, which would be two columns of the same numbers.
    """
    measures: list[Measure] = []
    for measure in map(parse_measure, names):
        if measure in measures:
            raise CalibragError(f"'{measure}' is the measure '{measures[measures.index(measure)]}': name it once")
        measures.append(measure)
    return measures


def replicates(statistics: Sequence[Callable[[Answers], NDArray]], answers: Answers, index: NDArray) -> NDArray:
    """Return statistics, such as `Measure.of`, on resamples of answers, shape (statistics, B).

    Parameters
    ----------
    statistics
        Each takes the answers of many resamples, and returns shape (b,).
    answers
        Arrays of shape (n,), without weights.
    index
        Resamples, shape (B, n), from `bootstrap.resamples`.
    """
    found = []
    for weights in bootstrap.multiplicities(index):
        # one for all statistics, which share what it has counted
        drawn = replace(answers, weights=weights)
        found.append([statistic(drawn) for statistic in statistics])
    return np.concatenate(found, axis=1)


def describe_measures(measures: Sequence[Measure]) -> str:
    """Return what the measures are, as one sentence for captions."""
    return "; ".join(f"{measure}: {measure.meaning}" for measure in measures) + "."
