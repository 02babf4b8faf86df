"""Whether a passage entails a claim."""

from __future__ import annotations

from collections.abc import Sequence

from calibrag.corpus.sentences import sentence_spans
from calibrag.errors import ConfigError
from calibrag.models.cross_encoder import CrossEncoder

ENTAILS = "entails"


class EntailmentVerifier:
    """P(passage entails claim) by a cross-encoder over windows of the passage.

    A long premise hides the sentence that matters from a small model: it is cut into windows of whole
    sentences, and the best window counts.

    Parameters
    ----------
    cross_encoder
        Has ``labels`` with ``entails`` among them, and ``scores``.
    chunk_words
        Most words of a window; a longer sentence is cut.
    """

    def __init__(self, cross_encoder: CrossEncoder, chunk_words: int):
        if ENTAILS not in cross_encoder.labels:
            raise ConfigError(
                "models.verifier",
                f"must have a label {ENTAILS!r} (got {', '.join(cross_encoder.labels)}); map the classifier's own"
                " names to ours with label_names",
            )
        self._cross_encoder = cross_encoder
        self._column = cross_encoder.labels.index(ENTAILS)
        self._chunk_words = chunk_words

    def entail(self, pairs: Sequence[tuple[str, str]], leads: Sequence[str] | None = None) -> list[float]:
        """Return P(entails) of each (premise, claim), in [0, 1]: the maximum over the premise's windows.

        All windows of all pairs go to the model in one call. An empty premise or claim gives 0.

        Parameters
        ----------
        leads
            Text put before each window of the premise at the same place, such as title and heading: without
            it, later windows do not say whom "he" means.
        """
        asked: list[tuple[str, str]] = []
        owners: list[int] = []
        for place, (premise, claim) in enumerate(pairs):
            if not claim.strip():
                continue
            lead = leads[place].strip() if leads is not None else ""
            for window in windows(premise, self._chunk_words):
                asked.append((f"{lead} . {window}" if lead else window, claim))
                owners.append(place)
        out = [0.0] * len(pairs)
        if asked:
            scores = self._cross_encoder.scores(asked)[:, self._column]
            for place, score in zip(owners, scores, strict=True):
                out[place] = max(out[place], float(score))
        return out


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
