"""Traces as a log of inspect_ai, built of its own classes (`inspect_ai.log`, `inspect_ai.event`).

A question is a sample and a pass an epoch of it. A trace has no time of day: events stand at the seconds that models
and indexes had worked before them, counted from the start of 1970, so that the same traces give the same log.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from statistics import fmean

import msgspec
from inspect_ai.event import ErrorEvent, Event, InfoEvent, ScoreEvent, ToolEvent
from inspect_ai.log import (
    EvalConfig,
    EvalDataset,
    EvalError,
    EvalLog,
    EvalMetric,
    EvalResults,
    EvalSample,
    EvalSampleLimit,
    EvalScore,
    EvalSpec,
    EvalStats,
)
from inspect_ai.model import ChatCompletionChoice, ChatMessageAssistant, ChatMessageUser, ModelOutput, ModelUsage
from inspect_ai.scorer import CORRECT, INCORRECT, NOANSWER, Score
from inspect_ai.tool import ToolCallError

from calibrag import trace as ours
from calibrag.evaluation.labels import Right
from calibrag.records import Question
from calibrag.reporting.exporters.inspect_models import Transcript, parsed
from calibrag.reporting.exporters.material import Material
from calibrag.trace import Trace

LIMITS = {"turn_limit": "turn", "token_limit": "token", "time_limit": "working", "context_limit": "context"}
"""``Trace.stop_reason`` -> what inspect_ai calls that limit."""


def eval_log(material: Material) -> EvalLog:
    """Return the log of a system's work on a collection; a pass that was skipped is not in it."""
    ran = [
        (question, trace)
        for question in material.questions
        for trace in material.traces.get(question.qid, ())
        if trace.status != "skipped"
    ]
    samples = [sample(question, trace, material.right, material.prompts) for question, trace in ran]
    traces = [trace for _, trace in ran]
    system, collection = traces[0].system, traces[0].collection
    made_by = traces[0].provenance
    qids = [question.qid for question in material.questions]
    epochs = max(trace.pass_number for trace in traces)
    return EvalLog(
        status="success",
        eval=EvalSpec(
            created=_moment(0.0),
            task=collection,
            task_id=f"{collection}-{system}",
            eval_id=f"{collection}-{system}",
            run_id=f"{collection}-{system}",
            dataset=EvalDataset(name=collection, samples=len(qids), sample_ids=qids),
            model=f"calibrag/{system}",
            config=EvalConfig(epochs=epochs),
            packages={"calibrag": made_by.release} if made_by else {},
            metadata=msgspec.to_builtins(made_by) if made_by else None,
        ),
        results=EvalResults(
            total_samples=len(qids) * epochs,
            completed_samples=sum(trace.status == "ok" for trace in traces),
            scores=[_mean("answer", "accuracy", samples), _mean("confidence", "mean", samples)],
        ),
        stats=EvalStats(started_at=_moment(0.0), completed_at=_moment(sum(trace.usage.seconds for trace in traces))),
        samples=samples,
    )


def _mean(score: str, metric: str, samples: Sequence[EvalSample]) -> EvalScore:
    """Return the mean of a score over the samples that have it; an answer counts 1 where it is right, else 0."""
    values = [sample.scores[score].value for sample in samples if score in sample.scores]
    numbers = [float(value == CORRECT) if isinstance(value, str) else value for value in values]
    return EvalScore(
        name=score,
        scorer=score,
        metrics={metric: EvalMetric(name=metric, value=fmean(numbers))} if numbers else {},
        scored_samples=len(values),
        unscored_samples=len(samples) - len(values),
    )


def sample(question: Question, trace: Trace, right: Right, prompts: Mapping[str, str]) -> EvalSample:
    """Return a pass over a question: what was said and done, and whether its answer is right."""
    name = f"{trace.qid}/{trace.pass_number}"
    transcript = Transcript(name, prompts)
    gold = question.answers if question.supported else []
    scores = _scores(trace, question, right)
    events = list(_events(trace, transcript))
    for scorer, score in scores.items():
        events.append(_placed(trace.usage.seconds, ScoreEvent, score=score, target=gold, scorer=scorer))
    for number, event in enumerate(events):
        event.uuid = f"{name}/{number}"
    fault = trace.events[-1].problem if trace.status == "error" else None
    usage = transcript.usage()
    return EvalSample(
        id=trace.qid,
        epoch=trace.pass_number,
        uuid=name,
        input=question.text,
        target=gold,
        messages=transcript.said or [ChatMessageUser(content=question.text, id=f"{name}/question")],
        output=_output(trace, f"{name}/answer"),
        scores=scores,
        metadata={
            "type": question.type,
            "supported": question.supported,
            "stop_reason": trace.stop_reason,
            "confidence_rule": trace.confidence_rule,
            "excluded": trace.excluded,
            "nuggets": msgspec.to_builtins(trace.nuggets),
            "usage": msgspec.to_builtins(trace.usage),
        },
        events=events,
        model_usage=usage,
        turn_count=trace.usage.tool_calls,
        total_time=trace.usage.seconds,
        working_time=trace.usage.seconds,
        error=_error(fault) if fault else None,
        limit=_limit(trace, usage),
    )


def _output(trace: Trace, name: str) -> ModelOutput:
    model = f"calibrag/{trace.system}"
    message = ChatMessageAssistant(content=trace.answer or "", model=model, id=name)
    return ModelOutput(model=model, choices=[ChatCompletionChoice(message=message, stop_reason="stop")])


def _scores(trace: Trace, question: Question, right: Right) -> dict[str, Score]:
    """Return whether the answer is right, and its confidence; of a pass that failed, nothing."""
    if trace.status == "error":
        return {}
    gold = question.answers if question.supported else []
    value = NOANSWER if trace.answer is None else CORRECT if right(trace.qid, trace.answer) else INCORRECT
    scores = {"answer": Score(value=value, answer=trace.answer, explanation=f"gold: {'; '.join(gold) or 'none'}")}
    if trace.confidence is not None:
        scores["confidence"] = Score(value=trace.confidence, explanation=trace.confidence_rule)
    return scores


def _limit(trace: Trace, usage: Mapping[str, ModelUsage]) -> EvalSampleLimit | None:
    """Return the limit that ended the pass, with what was reached: a trace does not hold the setting."""
    if trace.stop_reason not in LIMITS:
        return None
    tokens = [event.tokens for event in trace.events if isinstance(event, ours.ModelEvent) and event.tokens]
    reached = {
        "turn_limit": trace.usage.tool_calls,
        "token_limit": trace.usage.tokens,
        "time_limit": trace.usage.seconds,
        "context_limit": max(tokens, default=0),
    }
    return EvalSampleLimit(type=LIMITS[trace.stop_reason], limit=reached[trace.stop_reason], reason=trace.stop_reason)


# --- events --------------------------------------------------------------------------------------


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()


def _placed(seconds: float, kind: type[Event], **fields) -> Event:
    """Return an event that stands so many seconds after the start."""
    return kind(timestamp=datetime.fromtimestamp(seconds, UTC), working_start=seconds, **fields)


def _error(problem: str) -> EvalError:
    return EvalError(message=problem, traceback=problem, traceback_ansi=problem)


def _events(trace: Trace, transcript: Transcript) -> Iterator[Event]:
    before = 0.0
    for number, event in enumerate(trace.events):
        name = f"{trace.qid}/{trace.pass_number}/{number}"
        match event:
            case ours.ModelEvent():
                fields = transcript.model_event(event)
            case ours.GateEvent():
                fields = dict(kind=InfoEvent, source="gate", data=msgspec.to_builtins(event))
            case ours.ErrorEvent() if trace.status == "error" and event is trace.events[-1]:
                fields = dict(kind=ErrorEvent, error=_error(event.problem))
            case ours.AnswerEvent(origin="fallback") | ours.RecordEvent(nugget_id=None, verified=True):
                # the orchestrator's doing, not a call
                fields = dict(kind=InfoEvent, source="fallback", data=msgspec.to_builtins(event))
            case _:
                fields = dict(kind=ToolEvent, id=name, working_time=event.seconds, **_call(event))
        yield _placed(before, **fields, metadata={"turn": event.turn})
        before += event.seconds


def _call(event: ours.Event) -> dict:
    """Return function, arguments, result and error of the tool call that an event records."""
    match event:
        case ours.SearchEvent():
            shown = msgspec.to_builtins(event)
            result = {field: shown[field] for field in ("hits", "sources", "neighbours", "graph_names")}
            return _tool("search", {"query": event.query}, result)
        case ours.EntitySearchEvent():
            shown = msgspec.to_builtins(event)
            return _tool("entity_search", {"name": event.name}, {field: shown[field] for field in ("hits", "names")})
        case ours.ReadEvent():
            asked = {"passage_id": event.passage_id, "question": event.question}
            return _tool("read", asked, {"sentences": event.sentences, "chosen_by": event.chosen_by})
        case ours.RecordEvent():
            asked = {"passage_id": event.passage_id, "quotes": event.quotes, "claim": event.claim}
            fields = ("nugget_id", "entailment", "verified", "second_model")
            return _tool("record", asked, {field: getattr(event, field) for field in fields}, event.reason)
        case ours.RetractEvent():
            return _tool("retract", {"nugget_id": event.nugget_id}, {"accepted": event.accepted}, event.reason)
        case ours.AnswerEvent():
            return _tool("answer", {"text": event.text, "passage_ids": event.passage_ids}, {})
        case ours.ErrorEvent():
            return _tool(event.call, parsed(event.arguments), {}, event.problem)
    raise TypeError(f"no tool call is recorded by {type(event).__name__}")


def _tool(function: str, arguments: dict, result: dict, problem: str | None = None) -> dict:
    error = ToolCallError(type="unknown", message=problem) if problem else None
    return dict(function=function, arguments=arguments, result=json.dumps(result, ensure_ascii=False), error=error)
