"""The orchestrator: executes or rejects each call of a policy, checks claims, and rules on answers.

It stands outside the model. Everything that it does or refuses is an event of the trace, and the confidence of
an answer is computed from that record (spec/bitem sections 3 and 4).
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

import msgspec

from calibrag.agents.fallback import supported_answer
from calibrag.agents.gate import failed_conditions
from calibrag.agents.pass_confidence import CONFIDENCE_RULES
from calibrag.agents.protocol import (
    Answer,
    Effect,
    Entail,
    EntitySearch,
    FindName,
    NameMatches,
    Policy,
    Proposals,
    ProposeAnswers,
    Read,
    RecordNugget,
    Result,
    Retract,
    Retrieval,
    Retrieve,
    Retrieved,
    Search,
)
from calibrag.agents.reading import lead, read
from calibrag.agents.settings import EvidenceAgent
from calibrag.normalisation import name_key
from calibrag.records import (
    AnswerEvent,
    EntitySearchEvent,
    ErrorEvent,
    ModelEvent,
    Nugget,
    Passage,
    Question,
    ReadEvent,
    RecordEvent,
    RetractEvent,
    SearchEvent,
    Submission,
    Trace,
    TraceEvent,
    Usage,
)
from calibrag.verification.quotes import stands_in

Step = Generator[Effect, Any, Result]


def _listed(found: Sequence[Retrieved], **more) -> Result:
    """Return what a search tells the policy."""
    return Result(passages=[item.passage for item in found], scores=[item.hit.score for item in found], **more)


class EvidencePass:
    """One pass over one question; ``run`` is a generator of effects whose value is the trace.

    Parameters
    ----------
    question
        What is asked.
    policy
        Decides the next call.
    settings
        Of the orchestrator.
    pass_number
        From 1.
    excluded
        Passages that this pass must not see: those that earlier passes recorded.
    earlier
        Traces of the earlier passes, from which a fallback may be taken.
    """

    def __init__(
        self,
        question: Question,
        policy: Policy,
        settings: EvidenceAgent,
        pass_number: int,
        excluded: frozenset[str],
        earlier: Sequence[Trace],
    ):
        self.question = question
        self.policy = policy
        self.settings = settings
        self.pass_number = pass_number
        self.excluded = excluded
        self.earlier = earlier
        self.turn = 0
        self.passages: dict[str, Passage] = {}
        self.retrieved: dict[str, float] = {}
        self.nuggets: dict[str, Nugget] = {}
        self.events: list[TraceEvent] = []
        self.submissions: list[Submission] = []
        self.usage = dict.fromkeys(
            ("searches", "entity_searches", "tool_calls", "rejected_calls", "model_calls", "tokens", "entailments"), 0
        )

    # --- the loop --------------------------------------------------------------------------------

    def run(self, collection: str, system: str) -> Generator[Effect, Any, Trace]:
        """Yield effects until the pass ends, and return its trace; a fault of the world ends it as ``error``."""
        status = "ok"
        try:
            stop_reason = yield from self._loop()
            if stop_reason != "accepted" or self.submissions[-1].text is None:
                yield from self._fall_back()
        except Exception as fault:  # noqa: BLE001 - any fault of a model or index belongs to this question's record
            status, stop_reason = "error", "error"
            self.events.append(ErrorEvent(turn=self.turn, call="effect", problem=f"{type(fault).__name__}: {fault}"))
        final = self.submissions[-1] if self.submissions and self.submissions[-1].accepted else None
        return Trace(
            collection=collection,
            system=system,
            qid=self.question.qid,
            pass_number=self.pass_number,
            excluded=sorted(self.excluded),
            events=self.events,
            nuggets=list(self.nuggets.values()),
            submissions=self.submissions,
            retrieved=self.retrieved,
            answer=final.text if final else None,
            confidence=final.confidence if final else None,
            confidence_rule=self.settings.confidence.rule,
            stop_reason=stop_reason,
            status=status,
            usage=Usage(**self.usage),
        )

    def _loop(self) -> Generator[Effect, Any, str]:
        tools = {
            Search: self._search,
            EntitySearch: self._entity_search,
            Read: self._read,
            RecordNugget: self._record,
            Retract: self._retract,
            Answer: self._answer,
        }
        policy = self.policy(self.question)
        reply: Any = None
        while True:
            try:
                call = policy.send(reply)
            except StopIteration:
                return "no_call"
            if isinstance(call, ProposeAnswers):
                reply = yield from self._propose(call)
            else:
                self.turn += 1
                self.usage["tool_calls"] += 1
                reply = yield from tools[type(call)](call)
                if self.submissions and self.submissions[-1].accepted:
                    return "accepted"
            if self.usage["tokens"] >= self.settings.limits.tokens:
                return "token_limit"
            if self.turn >= self.settings.limits.turns:
                return "turn_limit"

    def _reject(self, call: object, problem: str) -> Result:
        self.usage["rejected_calls"] += 1
        self.events.append(ErrorEvent(turn=self.turn, call=type(call).__name__, problem=problem))
        return Result(problem=problem)

    # --- tools -----------------------------------------------------------------------------------

    def _search(self, call: Search) -> Step:
        if not call.query.strip():
            return self._reject(call, "the query must not be empty")
        most = self.settings.most_neighbours
        if not 0 <= call.neighbours <= most:
            return self._reject(call, f"neighbours must be from 0 to {most} (got {call.neighbours})")
        reply: Retrieval = yield Retrieve(
            qid=self.question.qid, query=call.query, excluded=self.excluded, neighbours=call.neighbours
        )
        self.usage["searches"] += 1
        for item in reply.found:
            passage_id, score = item.passage.passage_id, item.hit.score
            self.passages[passage_id] = item.passage
            self.retrieved[passage_id] = max(score, self.retrieved.get(passage_id, score))
        self.passages |= {p.passage_id: p for beside in reply.neighbours.values() for p in beside}
        self.events.append(
            SearchEvent(
                turn=self.turn,
                query=call.query,
                hits=[item.hit for item in reply.found],
                sources=[item.sources for item in reply.found],
                neighbours={hit: [p.passage_id for p in beside] for hit, beside in reply.neighbours.items() if beside},
                graph_names=reply.graph_names,
            )
        )
        return _listed(reply.found, neighbours=reply.neighbours)

    def _entity_search(self, call: EntitySearch) -> Step:
        if not name_key(call.name):
            return self._reject(call, f"the name must hold a letter or digit (got {call.name!r})")
        most = self.settings.entity_search
        reply: NameMatches = yield FindName(
            name=call.name, excluded=self.excluded, passages=most.passages, names=most.names
        )
        self.usage["entity_searches"] += 1
        self.passages |= {item.passage.passage_id: item.passage for item in reply.found}
        hits = [item.hit for item in reply.found]
        self.events.append(EntitySearchEvent(turn=self.turn, name=call.name, hits=hits, names=reply.names))
        return _listed(reply.found, names=reply.names)

    def _read(self, call: Read) -> Step:
        passage = self.passages.get(call.passage_id)
        if passage is None:
            return self._reject(call, self._unknown(call.passage_id))
        sentences, chosen_by = yield from self._counted(read(passage, call.question, self.settings.read_sentences))
        self.events.append(
            ReadEvent(
                turn=self.turn,
                passage_id=call.passage_id,
                question=call.question,
                sentences=sentences,
                chosen_by=chosen_by,
            )
        )
        return Result(sentences=sentences)

    def _record(self, call: RecordNugget) -> Step:
        passage = self.passages.get(call.passage_id)
        if passage is None:
            return self._reject(call, self._unknown(call.passage_id))
        if not call.claim.strip() or not call.quotes:
            return self._reject(call, "a nugget must have a claim and at least one quote")
        missing = [quote for quote in call.quotes if not stands_in(quote, passage.text)]
        entailment = None
        nugget_id = None
        problem = None
        if missing:
            problem = f"these quotes do not stand in {call.passage_id}: {missing}"
            self.usage["rejected_calls"] += 1
        else:
            [entailment] = yield from self._entail([(lead(passage), passage.text, call.claim)])
            nugget_id = f"n{len(self.nuggets) + 1}"
            threshold = self.settings.verified_entailment
            if entailment < threshold:
                problem = f"the passage must entail the claim with at least {threshold} (got {entailment:.3f})"
        verified = problem is None
        if nugget_id is not None:
            self.nuggets[nugget_id] = Nugget(
                nugget_id=nugget_id,
                passage_id=call.passage_id,
                quotes=call.quotes,
                claim=call.claim,
                entailment=entailment,
                verified=verified,
            )
        self.events.append(
            RecordEvent(
                turn=self.turn,
                passage_id=call.passage_id,
                quotes=call.quotes,
                claim=call.claim,
                entailment=entailment,
                verified=verified,
                reason=problem,
                nugget_id=nugget_id,
            )
        )
        return Result(problem=problem, nugget_id=nugget_id, verified=verified)

    def _retract(self, call: Retract) -> Step:
        nugget = self.nuggets.get(call.nugget_id)
        problem = None
        if nugget is None:
            problem = f"no nugget {call.nugget_id!r}; recorded are {sorted(self.nuggets)}"
        elif nugget.retracted:
            problem = f"nugget {call.nugget_id!r} is retracted already"
        else:
            self.nuggets[call.nugget_id] = msgspec.structs.replace(nugget, retracted=True)
        self.usage["rejected_calls"] += problem is not None
        self.events.append(
            RetractEvent(turn=self.turn, nugget_id=call.nugget_id, accepted=problem is None, reason=problem)
        )
        return Result(problem=problem)
        yield  # a tool is a generator, also where it needs nothing of the world

    def _answer(self, call: Answer) -> Step:
        submission = self._judge(call)
        self._submit(submission)
        return Result(problem="; ".join(submission.reasons) or None)
        yield

    # --- the gate --------------------------------------------------------------------------------

    def _judge(self, call: Answer, **origin) -> Submission:
        """Return the submission with the gate's ruling; every failed condition is a reason."""
        verified = [n for n in self.nuggets.values() if n.verified and not n.retracted]
        confidence = self._confidence(call.text, verified)
        reasons = [self._unknown(p) for p in call.passage_ids if p not in self.passages]
        reasons += failed_conditions(call.text, verified, confidence, self.settings.gate)
        return Submission(
            turn=self.turn,
            text=call.text,
            passage_ids=call.passage_ids,
            confidence=confidence,
            accepted=not reasons,
            reasons=reasons,
            **origin,
        )

    def _submit(self, submission: Submission) -> None:
        self.submissions.append(submission)
        # the event says the same, in its place among the others
        self.events.append(AnswerEvent(**msgspec.structs.asdict(submission)))

    def _confidence(self, answer: str | None, nuggets: Sequence[Nugget]) -> float:
        turned_back = sum(not submission.accepted for submission in self.submissions)
        return CONFIDENCE_RULES[self.settings.confidence.rule](answer, nuggets, turned_back, self.settings.confidence)

    def _fall_back(self) -> Generator[Effect, Any, None]:
        """File the most confident earlier answer that a passage of this pass's own record entails, if any.

        It does not pass the gate again. Its confidence is that of the one entailment, which is an event of the trace
        and no nugget of this pass; it is marked with its source pass, and is never independent of it.
        """
        own = sorted(self.retrieved, key=lambda p: (-self.retrieved[p], p))[: self.settings.fallback_passages]
        passages = [self.passages[passage_id] for passage_id in own]
        threshold = self.settings.verified_entailment
        found = yield from self._counted(supported_answer(self.question.text, self.earlier, passages, threshold))
        if found is None:
            return
        trace, support = found
        self.events.append(
            RecordEvent(
                turn=self.turn,
                passage_id=support.passage_id,
                quotes=[],
                claim=support.claim,
                entailment=support.entailment,
                verified=True,
                reason=f"support of the answer of pass {trace.pass_number}",
                nugget_id=None,
            )
        )
        self._submit(
            Submission(
                turn=self.turn,
                text=trace.answer,
                passage_ids=[support.passage_id],
                confidence=self._confidence(trace.answer, [support]),
                accepted=True,
                reasons=[],
                origin="fallback",
                source_pass=trace.pass_number,
            )
        )

    # --- effects ---------------------------------------------------------------------------------

    def _propose(self, call: ProposeAnswers) -> Generator[Effect, Any, Proposals]:
        proposals: Proposals = yield call
        self.usage["model_calls"] += 1
        self.usage["tokens"] += proposals.tokens
        self.events.append(
            ModelEvent(
                turn=self.turn,
                model=proposals.model,
                purpose="propose answers",
                tokens=proposals.tokens,
                candidates=[p.text for p in proposals.proposals],
                probabilities=[p.probability for p in proposals.proposals],
            )
        )
        return proposals

    def _entail(self, pairs: list[tuple[str, str, str]]) -> Generator[Effect, Any, list[float]]:
        if not pairs:
            return []
        self.usage["entailments"] += len(pairs)
        return (yield Entail(pairs=pairs))

    def _counted(self, steps: Generator[Entail, Any, Any]) -> Generator[Effect, Any, Any]:
        reply = None
        while True:
            try:
                effect = steps.send(reply)
            except StopIteration as end:
                return end.value
            reply = yield from self._entail(effect.pairs)

    def _unknown(self, passage_id: str) -> str:
        return f"passage {passage_id!r} was not retrieved in this pass"
