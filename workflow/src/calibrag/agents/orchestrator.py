"""The orchestrator: executes or rejects each call of a policy, checks claims, and rules on answers.

It stands outside the model. Everything that it does or refuses is an event of the trace, and the confidence of
an answer is computed from that record (spec/bitem sections 3 and 4).
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

import msgspec

from calibrag.agents.fallback import supported_answer
from calibrag.agents.gate import reason, rule_on
from calibrag.agents.pass_confidence import CONFIDENCE_RULES, Confidence
from calibrag.agents.pass_record import PassRecord
from calibrag.agents.protocol import (
    TOOLS,
    Answer,
    Converse,
    Effect,
    Entail,
    EntitySearch,
    FindName,
    MalformedCall,
    NameMatches,
    Performed,
    Policy,
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
from calibrag.errors import ModelCallError
from calibrag.normalisation import name_key
from calibrag.records import Passage, Question, Record
from calibrag.trace import (
    AnswerEvent,
    Condition,
    EntitySearchEvent,
    ErrorEvent,
    GateEvent,
    Nugget,
    Provenance,
    ReadEvent,
    RecordEvent,
    RetractEvent,
    SearchEvent,
    Submission,
    Trace,
    Usage,
)
from calibrag.verification.quotes import stands_in

Step = Generator[Effect, Any, Result]


_NAMES = {call: name for name, call in TOOLS.items()}


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
        self.record = PassRecord(pass_number)
        self.passages: dict[str, Passage] = {}
        self.retrieved: dict[str, float] = {}
        self.nuggets: dict[str, Nugget] = {}
        self.submissions: list[Submission] = []

    # --- the loop --------------------------------------------------------------------------------

    def run(
        self, collection: str, system: str, provenance: Provenance | None = None
    ) -> Generator[Effect, Performed, Trace]:
        """Yield effects until the pass ends, and return its trace; a fault of the world ends it as ``error``."""
        status = "ok"
        try:
            stop_reason = yield from self._loop()
            if stop_reason != "accepted" or self.submissions[-1].text is None:
                yield from self._fall_back()
        except Exception as fault:  # noqa: BLE001 - any fault of a model or index belongs to this question's record
            status, stop_reason = "error", "error"
            self.record.log(ErrorEvent, call="effect", problem=f"{type(fault).__name__}: {fault}")

        self.record.settle()
        final = self.submissions[-1] if self.submissions and self.submissions[-1].accepted else None
        return Trace(
            collection=collection,
            system=system,
            qid=self.question.qid,
            pass_number=self.pass_number,
            excluded=sorted(self.excluded),
            events=self.record.events,
            nuggets=list(self.nuggets.values()),
            submissions=self.submissions,
            retrieved=self.retrieved,
            answer=final.text if final else None,
            confidence=final.confidence if final else None,
            confidence_rule=self.settings.confidence.rule,
            stop_reason=stop_reason,
            status=status,
            usage=Usage(**self.record.usage),
            provenance=provenance,
        )

    def _loop(self) -> Generator[Effect, Any, str]:
        tools = {
            Search: self._search,
            EntitySearch: self._entity_search,
            Read: self._read,
            RecordNugget: self._record,
            Retract: self._retract,
            Answer: self._answer,
            MalformedCall: self._malformed,
        }
        policy = self.policy(self.question)
        reply: Any = None
        while True:
            try:
                call = policy.send(reply)
            except StopIteration:
                return "no_call"
            if isinstance(call, ProposeAnswers):
                reply = yield from self.record.propose(call)
            elif isinstance(call, Converse):
                try:
                    reply = yield from self.record.converse(call)
                except ModelCallError as error:
                    # a context that does not even take the question is a wrong setting
                    if error.fault != "too_long" or not self.record.transcript:
                        raise
                    self.record.log(ErrorEvent, call=call.purpose, problem=str(error))
                    return "context_limit"
            else:
                self.record.turn += 1
                self.record.usage["tool_calls"] += 1
                reply = yield from tools[type(call)](call)
                if self.submissions and self.submissions[-1].accepted:
                    return "accepted"
            if limit := self._limit():
                return limit

    def _limit(self) -> str | None:
        """Return the limit that is reached, if one is."""
        limits = self.settings.limits
        if self.record.usage["tokens"] >= limits.tokens or self.record.transcript >= limits.transcript:
            return "token_limit"
        if limits.seconds is not None and self.record.usage["seconds"] >= limits.seconds:
            return "time_limit"
        return "turn_limit" if self.record.turn >= limits.turns else None

    def _reject(self, call: Record, problem: str) -> Result:
        self.record.reject(_NAMES[type(call)], problem, msgspec.json.encode(call).decode())

        return Result(problem=problem)

    # --- tools -----------------------------------------------------------------------------------

    def _search(self, call: Search) -> Step:
        if not call.query.strip():
            return self._reject(call, "the query must not be empty")
        most = self.settings.most_neighbours
        if not 0 <= call.neighbours <= most:
            return self._reject(call, f"neighbours must be from 0 to {most} (got {call.neighbours})")
        reply: Retrieval = yield from self.record.perform(
            Retrieve(qid=self.question.qid, query=call.query, excluded=self.excluded, neighbours=call.neighbours)
        )
        self.record.usage["searches"] += 1
        for item in reply.found:
            passage_id, score = item.passage.passage_id, item.hit.score
            self.passages[passage_id] = item.passage
            self.retrieved[passage_id] = max(score, self.retrieved.get(passage_id, score))
        self.passages |= {p.passage_id: p for beside in reply.neighbours.values() for p in beside}
        self.record.log(
            SearchEvent,
            query=call.query,
            hits=[item.hit for item in reply.found],
            sources=[item.sources for item in reply.found],
            neighbours={hit: [p.passage_id for p in beside] for hit, beside in reply.neighbours.items() if beside},
            graph_names=reply.graph_names,
        )

        return _listed(reply.found, neighbours=reply.neighbours)

    def _entity_search(self, call: EntitySearch) -> Step:
        if not name_key(call.name):
            return self._reject(call, f"the name must hold a letter or digit (got {call.name!r})")
        most = self.settings.entity_search
        reply: NameMatches = yield from self.record.perform(
            FindName(name=call.name, excluded=self.excluded, passages=most.passages, names=most.names)
        )
        self.record.usage["entity_searches"] += 1
        self.passages |= {item.passage.passage_id: item.passage for item in reply.found}
        hits = [item.hit for item in reply.found]
        self.record.log(EntitySearchEvent, name=call.name, hits=hits, names=reply.names)
        return _listed(reply.found, names=reply.names)

    def _read(self, call: Read) -> Step:
        passage = self.passages.get(call.passage_id)
        if passage is None:
            return self._reject(call, self._unknown(call.passage_id))
        sentences, chosen_by = yield from self._counted(read(passage, call.question, self.settings.read_sentences))
        self.record.log(
            ReadEvent,
            passage_id=call.passage_id,
            question=call.question,
            sentences=sentences,
            chosen_by=chosen_by,
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
        second_model = False
        nugget_id = None
        problem = None
        if missing:
            problem = f"these quotes do not stand in {call.passage_id}: {missing}"
            self.record.usage["rejected_calls"] += 1
        else:
            [entailed] = yield from self.record.entail([(lead(passage), passage.text, call.claim)])
            entailment, second_model = entailed.score, entailed.second_model
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
        self.record.log(
            RecordEvent,
            passage_id=call.passage_id,
            quotes=call.quotes,
            claim=call.claim,
            entailment=entailment,
            verified=verified,
            reason=problem,
            nugget_id=nugget_id,
            second_model=second_model,
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
        self.record.usage["rejected_calls"] += problem is not None
        self.record.log(RetractEvent, nugget_id=call.nugget_id, accepted=problem is None, reason=problem)

        return Result(problem=problem)
        yield  # a tool is a generator, also where it needs nothing of the world

    def _malformed(self, call: MalformedCall) -> Step:
        self.record.reject(call.name, call.problem, call.arguments)

        return Result(problem=call.problem)
        yield

    def _answer(self, call: Answer) -> Step:
        verified = [n for n in self.nuggets.values() if n.verified and not n.retracted]
        confidence = self._confidence(call.text, verified)
        gate = self.settings.gate
        conditions = rule_on(call.text, call.passage_ids, self.passages, verified, confidence.value, gate)
        submission = self._submit(call, confidence, conditions)
        return Result(problem="; ".join(submission.reasons) or None)
        yield

    # --- the gate --------------------------------------------------------------------------------

    def _submit(
        self, answer: Answer, confidence: Confidence, conditions: list[Condition], source_pass: int | None = None
    ) -> Submission:
        """Put an answer and the gate's ruling on record; every failed condition is a reason."""
        told = dict(
            **msgspec.structs.asdict(answer),
            origin="own" if source_pass is None else "fallback",
            source_pass=source_pass,
        )
        failed = [reason(condition) for condition in conditions if not condition.passed]
        ruling = dict(accepted=not failed, confidence=confidence.value)
        self.record.log(AnswerEvent, **told)
        self.record.log(GateEvent, **ruling, conditions=conditions, numbers=confidence.numbers)
        submission = Submission(turn=self.record.turn, **told, **ruling, reasons=failed)
        self.submissions.append(submission)
        return submission

    def _confidence(self, answer: str | None, nuggets: Sequence[Nugget]) -> Confidence:
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
        trace, support, second_model = found
        self.record.log(
            RecordEvent,
            passage_id=support.passage_id,
            quotes=[],
            claim=support.claim,
            entailment=support.entailment,
            verified=True,
            reason=f"support of the answer of pass {trace.pass_number}",
            nugget_id=None,
            second_model=second_model,
        )

        confidence = self._confidence(trace.answer, [support])
        filed = Answer(text=trace.answer, passage_ids=[support.passage_id])
        self._submit(filed, confidence, [], source_pass=trace.pass_number)

    # --- checks ---------------------------------------------------------------------------------

    def _counted(self, steps: Generator[Entail, Any, Any]) -> Generator[Effect, Any, Any]:
        reply = None
        while True:
            try:
                effect = steps.send(reply)
            except StopIteration as end:
                return end.value
            reply = yield from self.record.entail(effect.pairs)

    def _unknown(self, passage_id: str) -> str:
        return f"passage {passage_id!r} was not retrieved in this pass"
