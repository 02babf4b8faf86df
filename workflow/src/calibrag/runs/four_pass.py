"""The four-pass rule: confidence by how many passes independently say the same."""

from __future__ import annotations

import math
from collections.abc import Sequence

from calibrag.runs.choices import REFUSAL, Attempt, Choice, FourPassSettings, RuleSettings, Traces, answer_of
from calibrag.runs.filed_confidence import groups
from calibrag.runs.same_answers import Same
from calibrag.trace import Trace


def four_pass(traces: Traces, settings: RuleSettings, same: Same) -> dict[str, Choice]:
    """Four-pass rule: "one vote a pass, grouped by normalised answer; accepted 1.0, turned-back 0.5, fallback 0.25;
    verified entailment only breaks ties. Confidence 100 if two passes independently agree, 50 if they divide, 0 if only
    one answers. 2-2 gives 50; 2-1 gives 100; no answer gives a refusal at 0."

    A pass votes for the answer that it was let through with, else for its last attempt. The group of the largest weight
    is filed, of equals that of the strongest verified nugget, then the earliest; in the words of its weightiest vote,
    the earliest of equals. A fallback repeats another pass, so that it agrees with none independently. Passes agree
    where two or more stand for the group and fewer for any other; they divide where two or more vote in another way.
    """
    return {qid: _elected(passes, settings.four_pass, same) for qid, passes in traces.items()}


def _elected(passes: Sequence[Trace], weights: FourPassSettings, same: Same) -> Choice:
    votes = [vote for trace in passes if (vote := answer_of(trace))]
    if not votes:
        return REFUSAL
    parties = groups(votes, same)
    # max keeps the first of equals, which is the earliest
    filed = max(parties, key=lambda party: (math.fsum(_weight(v, weights) for v in party), _entailment(party)))
    independent = [sum(vote.submission.origin == "own" for vote in party) for party in parties if party is not filed]
    own = sum(vote.submission.origin == "own" for vote in filed)
    if own >= 2 and own > max(independent, default=0):
        confidence = 1.0
    else:
        confidence = 0.5 if own + sum(independent) >= 2 else 0.0
    return Choice(max(filed, key=lambda vote: _weight(vote, weights)), confidence)


def _weight(vote: Attempt, weights: FourPassSettings) -> float:
    if vote.submission.origin == "fallback":
        return weights.fallback
    return weights.accepted if vote.submission.accepted else weights.turned_back


def _entailment(party: Sequence[Attempt]) -> float:
    """Return the highest entailment of a verified nugget of the passes that vote so; 0 where there is none."""
    nuggets = [nugget for vote in party for nugget in vote.trace.nuggets]
    return max((n.entailment for n in nuggets if n.verified and not n.retracted), default=0.0)
