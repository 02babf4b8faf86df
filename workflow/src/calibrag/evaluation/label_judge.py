"""A chat model as a source of labels, of the answers that no match decides and no person has reviewed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from calibrag.evaluation.labels import Label
from calibrag.models.chat.batches import complete_or_say
from calibrag.models.chat.opening import decoding_of, open_chat
from calibrag.models.chat.prompts import Prompt
from calibrag.models.chat.seam import ChatModel, ChatRequest, Decoding
from calibrag.records import Question

SCHEMA = {
    "type": "object",
    "properties": {"right": {"type": "boolean"}},
    "required": ["right"],
    "additionalProperties": False,
}


def judge_answers(
    undecided: Sequence[tuple[Question, str]],
    chat: ChatModel,
    prompt: Prompt,
    decoding: Decoding,
    concurrency: int,
    say: Callable[[str], None],
) -> list[Label]:
    """Return what a model says of answers, in their order; one whose request failed has no label and stays undecided.

    Parameters
    ----------
    undecided
        Questions with the answers of which is asked.
    chat
        The model; its replies are parsed.
    prompt
        With the placeholders question, gold and answer.
    concurrency
        Requests under way, 1 or more.
    say
        Takes a line for each request that failed, and one with the counts.

    Raises
    ------
    ModelCallError
        A fault that every further call would meet.
    """
    requests = [
        ChatRequest(
            messages=prompt.fill(question=question.text, gold="\n".join(question.answers), answer=answer),
            decoding=decoding,
            schema=SCHEMA,
        )
        for question, answer in undecided
    ]
    about = [f"question {question.qid}" for question, _ in undecided]
    replies = complete_or_say(chat, requests, about, concurrency, say)
    labels = [
        Label(qid=question.qid, answer=answer, right=reply.parsed["right"], source="judge")
        for (question, answer), reply in zip(undecided, replies, strict=True)
        if reply is not None
    ]
    right = sum(label.right for label in labels)
    say(f"{len(undecided)} answers: {right} right, {len(labels) - right} wrong, {len(undecided) - len(labels)} failed")
    return labels


def judge_by_chat(
    undecided: Sequence[tuple[Question, str]], model: Mapping[str, Any], prompt: str, say: Callable[[str], None]
) -> list[Label]:
    """Return what `judge_answers` does with the block ``models.chat`` of the configuration and the prompt's file."""
    chat, spending = open_chat(model)
    labels = judge_answers(undecided, chat, Prompt(prompt), decoding_of(model), model["concurrency"], say)
    say(f"models.chat: {spending}")
    return labels
