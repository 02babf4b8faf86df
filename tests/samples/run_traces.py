"""Traces that hold what the runs read of them, and no more."""

from calibrag.trace import ErrorEvent, ModelEvent, Nugget, Submission, Trace, Usage

FAULT = ErrorEvent(turn=1, call="effect", problem="index is gone")


def nugget(passage_id, entailment=0.9, verified=True, retracted=False):
    return Nugget(
        nugget_id=passage_id,
        passage_id=passage_id,
        quotes=["q"],
        claim="c",
        entailment=entailment,
        verified=verified,
        retracted=retracted,
    )


def submission(text, confidence, accepted=True, turn=1, origin="own"):
    return Submission(
        turn=turn, text=text, passage_ids=[], confidence=confidence, accepted=accepted, reasons=[], origin=origin
    )


def turned_back(text, confidence, turn=1):
    return submission(text, confidence, accepted=False, turn=turn)


def trace(number, submissions, nuggets=(), retrieved=None, qid="q", **more):
    final = submissions[-1] if submissions and submissions[-1].accepted else None
    fields = dict(
        collection="c",
        system="s",
        qid=qid,
        pass_number=number,
        excluded=[],
        events=[],
        nuggets=list(nuggets),
        submissions=list(submissions),
        retrieved=retrieved or {},
        answer=final.text if final else None,
        confidence=final.confidence if final else None,
        confidence_rule="r",
        stop_reason="accepted" if final else "no_call",
        status="ok",
        usage=Usage(),
    )
    return Trace(**fields | more)


def failed(number, submissions=(), qid="q"):
    return trace(number, submissions, qid=qid, status="error", stop_reason="error", events=[FAULT])


def skipped(number, qid="q"):
    return trace(number, [], qid=qid, status="skipped", stop_reason="skipped")


def spoke(*lengths, purpose="next call"):
    """Return the events of a model that thought so many characters, turn by turn."""
    return [
        ModelEvent(turn=turn, model="m", purpose=purpose, text="", reasoning="x" * length)
        for turn, length in enumerate(lengths, start=1)
    ]
