"""Whether a passage entails a claim: a small model first, and a larger one where the small one is unsure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from calibrag.corpus.sentences import sentence_spans
from calibrag.errors import ConfigError
from calibrag.models.cross_encoder import CrossEncoder

ENTAILS = "entails"


class Entailment(NamedTuple):
    """P(premise entails claim), in [0, 1], and whether the second model gave it."""

    score: float
    second: bool = False


class EntailmentVerifier:
    """P(passage entails claim) by a cascade of cross-encoders over windows of the passage.

    A long premise hides the sentence that matters from a small model: it is cut into windows of whole
    sentences, and the best window counts.

    Parameters
    ----------
    cross_encoder
        The first model: has ``labels`` with ``entails`` among them, and ``scores``.
    chunk_words
        Most words of a window; a longer sentence is cut.
    second
        The larger model; None goes without.
    band
        Lowest and highest score of the first model, both included, at which the second one decides.
    """

    def __init__(
        self,
        cross_encoder: CrossEncoder,
        chunk_words: int,
        second: CrossEncoder | None = None,
        band: tuple[float, float] = (0.0, 1.0),
    ):
        self._first = _Entails(cross_encoder, "models.verifier.encoder")
        self._second = second and _Entails(second, "models.verifier.second")
        self._low, self._high = band
        self._chunk_words = chunk_words

    @classmethod
    def open(cls, settings: Mapping[str, Any], device: str, threads: int) -> EntailmentVerifier:
        """Return the verifier of the block ``models.verifier`` of the configuration, its models loaded."""
        first, second = (
            block and CrossEncoder(**block, device=device, threads=threads)
            for block in (settings["encoder"], settings["second"])
        )
        return cls(first, settings["chunk_words"], second, settings["band"])

    def entail(self, pairs: Sequence[tuple[str, str]], leads: Sequence[str] | None = None) -> list[Entailment]:
        """Return the entailment of each (premise, claim): the maximum over the premise's windows.

        All windows of all pairs go to the first model in one call; those of all pairs whose score lies in the band go
        to the second in another, and its maximum replaces the first's. An empty premise or claim gives 0.

        Parameters
        ----------
        leads
            Text put before each window of the premise at the same place, such as title and heading: without
            it, later windows do not say whom "he" means.
        """
        asked = [
            [(window, claim) for window in self.windows(premise, lead)] if claim.strip() else []
            for (premise, claim), lead in zip(pairs, [""] * len(pairs) if leads is None else leads, strict=True)
        ]
        out = [Entailment(score) for score in self._first.best(asked)]
        if self._second is not None:
            unsure = [n for n, (score, _) in enumerate(out) if asked[n] and self._low <= score <= self._high]
            for place, score in zip(unsure, self._second.best([asked[n] for n in unsure]), strict=True):
                out[place] = Entailment(score, second=True)
        return out

    def windows(self, premise: str, lead: str = "") -> list[str]:
        """Return what the models read of a premise: its windows, each behind the lead."""
        lead = lead.strip()
        return [f"{lead} . {window}" if lead else window for window in windows(premise, self._chunk_words)]


class _Entails:
    """The column ``entails`` of a cross-encoder."""

    def __init__(self, cross_encoder: CrossEncoder, setting: str):
        if ENTAILS not in cross_encoder.labels:
            raise ConfigError(
                setting,
                f"must have a label {ENTAILS!r} (got {', '.join(cross_encoder.labels)}); map the classifier's own"
                " names to ours with label_names",
            )
        self._cross_encoder = cross_encoder
        self._column = cross_encoder.labels.index(ENTAILS)

    def best(self, asked: Sequence[Sequence[tuple[str, str]]]) -> list[float]:
        """Return the highest score of each list of pairs, 0 for an empty list; all of them in one call."""
        together = [pair for pairs in asked for pair in pairs]
        if not together:
            return [0.0] * len(asked)
        scores = iter(self._cross_encoder.scores(together)[:, self._column].tolist())
        return [max([next(scores) for _ in pairs], default=0.0) for pairs in asked]


def windows(text: str, most_words: int) -> list[str]:
    """Return the text cut into windows of whole sentences or table rows, each of at most ``most_words`` words.

    A sentence that is longer is cut at words. Windows do not overlap; together they hold all words in order.
    """
    out: list[str] = []
    open_words: list[str] = []
    # a table's rows end with their lines
    sentences = (line[start:end] for line in text.splitlines() for start, end in sentence_spans(line))
    for sentence in sentences:
        found = sentence.split()
        if open_words and len(open_words) + len(found) > most_words:
            out.append(" ".join(open_words))
            open_words = []
        open_words += found
        while len(open_words) > most_words:
            out.append(" ".join(open_words[:most_words]))
            open_words = open_words[most_words:]
    if open_words:
        out.append(" ".join(open_words))
    return out
