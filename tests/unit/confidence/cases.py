"""Cases for the tests of signals: passes by hand, with what a test wants of them."""

from msgspec.structs import replace

from calibrag.confidence.signals import Case
from calibrag.trace import RunEntry, Submission, Trace, Usage


def submission(text, confidence=0.5, accepted=True, turn=1, origin="own"):
    return Submission(
        turn=turn, text=text, passage_ids=[], confidence=confidence, accepted=accepted, reasons=[], origin=origin
    )


def a_pass(number, *submissions, status="ok", events=(), nuggets=(), usage=None, **more):
    """Return the trace of a pass; a text in place of a submission is an answer that was accepted."""
    made = [each if isinstance(each, Submission) else submission(each) for each in submissions]
    final = made[-1] if made and made[-1].accepted else None
    return Trace(
        **dict(
            collection="c", system="s", qid="q", excluded=[], retrieved={}, confidence_rule="r", stop_reason="accepted"
        )
        | more,
        pass_number=number,
        events=list(events),
        nuggets=list(nuggets),
        submissions=made,
        answer=final.text if final else None,
        confidence=final.confidence if final else None,
        status=status,
        usage=usage or Usage(),
    )  # fmt: skip


def entry(answer, pass_number=1, confidence=1.0, qid="q"):
    return RunEntry(
        run="four-pass", qid=qid, answer=answer, confidence=confidence, nuggets=[], passage_run="PG-2", origin="o",
        pass_number=pass_number,
    )  # fmt: skip


def case(*passes, answer="Rome", pass_number=1, **more):
    return Case("Which city is it?", entry(answer, pass_number), list(passes), **more)


def recording(trace, *aspects):
    """Return the trace as one from elsewhere, which holds these aspects."""
    return replace(trace, recorded=list(aspects))
