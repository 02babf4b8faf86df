"""What a pass without an answer may file instead: an earlier pass's, where its own record supports it."""

from __future__ import annotations

from collections.abc import Generator, Sequence

from calibrag.agents.protocol import Entail, Entailed
from calibrag.agents.reading import lead
from calibrag.records import Passage
from calibrag.trace import Nugget, Trace
from calibrag.verification.claims import claim_text


def supported_answer(
    question: str, earlier: Sequence[Trace], own: Sequence[Passage], threshold: float
) -> Generator[Entail, list[Entailed], tuple[Trace, Nugget, bool] | None]:
    """Return the earlier pass whose answer is filed, the support of it, which is no nugget of this pass, and whether
    the verifier's second model gave it.

    It is the most confident answer of the earlier passes' own (not itself a fallback) that a passage of ``own``
    entails with at least ``threshold``; None where there is none.
    """
    filed = [trace for trace in earlier if trace.answer is not None and trace.submissions[-1].origin == "own"]
    for trace in sorted(filed, key=lambda trace: (-trace.confidence, trace.pass_number)):
        claim = claim_text(question, trace.answer)
        scores = yield Entail(pairs=[(lead(passage), passage.text, claim) for passage in own])
        best = max(range(len(own)), key=lambda i: scores[i].score, default=None)
        if best is not None and scores[best].score >= threshold:
            return (
                trace,
                Nugget(
                    nugget_id="fallback",
                    passage_id=own[best].passage_id,
                    quotes=[],
                    claim=claim,
                    entailment=scores[best].score,
                    verified=True,
                ),
                scores[best].second_model,
            )
    return None
