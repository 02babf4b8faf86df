"""A chat model inside this process, whose logits and hidden states can be looked at; slow, for white-box signals."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from llguidance import LLMatcher, LLTokenizer
from llguidance.hf import from_tokenizer
from transformers import LogitsProcessor, PreTrainedModel, PreTrainedTokenizerBase

from calibrag.errors import CallFault, ModelCallError
from calibrag.models.chat.seam import Beam, ChatRequest, ChatUsage, Message, Reply, TokenLogprob
from calibrag.models.language_scorer import load


class States(NamedTuple):
    """What a model computed for the n tokens of a reply.

    ``tokens`` are their texts; ``logprobs`` (n,) their log-probabilities, natural, at temperature 1, before any
    grammar; ``entropies`` (n,) those of the distributions that they were drawn from, nats, 0 to ln of the vocabulary;
    ``hidden`` (layers, n, width) the hidden states at the tokens, layers in the order asked for. Floats in single
    precision.
    """

    tokens: list[str]
    logprobs: np.ndarray
    entropies: np.ndarray
    hidden: np.ndarray


class InProcessChat:
    """A transformers model, GGUF or not, that answers one request at a time and does not block the event loop.

    The weights are loaded at the first call and stay. JSON schemas and beam searches are offered, tools are not.

    Parameters
    ----------
    name, revision
        The model, as records call it. To the cache it is another one than the same weights in a server, which rounds
        differently: its ``revision`` names the number format too.
    weights
        Where it lies, as ``models.locate`` reads it, or a folder that ``language_scorer.unpack`` wrote, which loads in
        a second.
    dtype
        ``float32`` or ``bfloat16``.
    threads
        Threads of torch; they are set for the whole process.
    """

    def __init__(self, name: str, revision: str, *, weights: str, dtype: str, threads: int):
        self.name = name
        self.revision = f"{revision}, transformers {dtype}"
        self.host = None
        self._weights = weights
        self._dtype = dtype
        self._threads = threads
        self._loaded: tuple[PreTrainedTokenizerBase, PreTrainedModel, LLTokenizer] | None = None
        self._turn: asyncio.Lock | None = None

    async def complete(self, request: ChatRequest) -> Reply:
        """Return the reply; see ``ChatModel``.

        Raises
        ------
        MissingModelError
            The model is not on this machine.
        ModelCallError
            The prompt leaves no room for a reply, the schema is not supported, or the request has tools or fields of
            a server.
        """
        async with self._one_at_a_time():
            return await asyncio.to_thread(self._complete, request)

    async def states(self, request: ChatRequest, text: str, layers: Sequence[int]) -> States:
        """Return what the model computes for a reply to a request, its own or another's.

        Parameters
        ----------
        text
            The reply; it is cut into tokens anew, which for odd texts are not those that were drawn.
        layers
            Hidden states wanted: 0 is the embedding, i the output of layer i, -1 that of the last, normed.

        Raises
        ------
        MissingModelError
            The model is not on this machine.
        ModelCallError
            Request and reply exceed the context.
        """
        async with self._one_at_a_time():
            return await asyncio.to_thread(self._states, request, text, layers)

    async def close(self) -> None:
        """Leave the event loop; the weights stay."""
        self._turn = None

    def _one_at_a_time(self) -> asyncio.Lock:
        if self._turn is None:
            self._turn = asyncio.Lock()
        return self._turn

    def _load(self) -> tuple[PreTrainedTokenizerBase, PreTrainedModel, LLTokenizer]:
        if self._loaded is None:
            torch.set_num_threads(self._threads)
            tokenizer, model = load(self._weights, self._dtype)
            grammar_tokenizer = from_tokenizer(tokenizer, n_vocab=model.config.vocab_size)
            self._loaded = tokenizer, model.eval(), grammar_tokenizer
        return self._loaded

    @torch.inference_mode()
    def _complete(self, request: ChatRequest) -> Reply:
        started = time.monotonic()
        tokenizer, model, grammar_tokenizer = self._load()
        decoding = request.decoding
        if request.tools or decoding.extra:
            what = "tools" if request.tools else f"fields of a server such as {sorted(decoding.extra)[0]}"
            raise self._error("invalid", f"a model of transformers takes no {what}; set models.chat.backend to server")
        prompt = self._prompt(request.messages)
        room = model.config.max_position_embeddings - prompt.shape[1]
        if room < 1:
            raise self._error("too_long", f"it exceeds the context ({prompt.shape[1]} tokens); ask for less")
        processors = [] if request.schema is None else [_Grammar(self._matcher(request.schema), prompt.shape[1])]
        # torch has one generator; others in this process find it as they left it
        with torch.random.fork_rng(devices=[]):
            if decoding.seed is not None:
                torch.manual_seed(decoding.seed + request.sample)
            out = model.generate(
                prompt,
                attention_mask=torch.ones_like(prompt),
                max_new_tokens=min(room, decoding.max_tokens or room),
                logits_processor=processors,
                # the library looks for them in the text, and leaves them at its end
                stop_strings=decoding.stop or None,
                tokenizer=tokenizer,
                output_logits=True,
                return_dict_in_generate=True,
                **_search(decoding.temperature, request.beams),
            )
        drawn = out.sequences[:, prompt.shape[1] :]
        ends = [self._end(tokens.tolist(), decoding.stop) for tokens in drawn]
        text, finish_reason, length = ends[0]
        beams = [] if request.beams is None else [
            Beam(text=end[0], logprob=score) for end, score in zip(ends, out.sequences_scores.tolist(), strict=True)
        ]  # fmt: skip
        return Reply(
            text=text,
            finish_reason=finish_reason,
            usage=ChatUsage(prompt_tokens=prompt.shape[1], completion_tokens=sum(end[2] for end in ends)),
            logprobs=self._logprobs(drawn[0, :length], out.logits, decoding.logprobs),
            beams=beams,
            seconds=time.monotonic() - started,
        )

    @torch.inference_mode()
    def _states(self, request: ChatRequest, text: str, layers: Sequence[int]) -> States:
        tokenizer, model, _ = self._load()
        prompt = self._prompt(request.messages)
        reply = tokenizer(text, add_special_tokens=False, return_tensors="pt").input_ids
        both = torch.cat([prompt, reply.to(prompt.dtype)], dim=1)
        start = prompt.shape[1]
        if both.shape[1] > model.config.max_position_embeddings:
            raise self._error("too_long", f"it exceeds the context ({both.shape[1]} tokens); ask for less")
        out = model(both, output_hidden_states=True, use_cache=False)
        # the distribution of a token is computed at the one before
        logs = torch.log_softmax(out.logits[0, start - 1 : -1].float(), dim=-1)
        hidden = torch.stack([out.hidden_states[layer][0, start:].float() for layer in layers])
        return States(
            tokens=[tokenizer.decode([token]) for token in reply[0].tolist()],
            logprobs=logs.gather(1, reply[0].long()[:, None])[:, 0].numpy(),
            entropies=torch.special.entr(logs.exp()).sum(dim=-1).numpy(),
            hidden=hidden.numpy(),
        )

    def _prompt(self, messages: Sequence[Message]) -> torch.Tensor:
        """Return the conversation as tokens (1, n), up to where the assistant speaks."""
        tokenizer, _, _ = self._load()
        said = [{"role": message.role, "content": message.content} for message in messages]
        return tokenizer.apply_chat_template(
            said, add_generation_prompt=True, return_tensors="pt", return_dict=True
        ).input_ids

    def _matcher(self, schema: dict) -> LLMatcher:
        # a weak model would fill its tokens with spaces
        grammar = LLMatcher.grammar_from_json_schema(schema, overrides={"whitespace_flexible": False})
        matcher = LLMatcher(self._load()[2], grammar)
        if matcher.is_error():
            raise self._error("invalid", f"the JSON schema cannot be enforced: {matcher.get_error()}")
        return matcher

    def _end(self, tokens: list[int], stop: Sequence[str]) -> tuple[str, str, int]:
        """Return text, reason and number of tokens of one end, without what stands for its end."""
        tokenizer, model, _ = self._load()
        closing = model.generation_config.eos_token_id
        closing = {closing} if isinstance(closing, int) else set(closing)
        length = next((place for place, token in enumerate(tokens) if token in closing), None)
        text = tokenizer.decode(tokens[:length], skip_special_tokens=True)
        cut = min((place for word in stop if (place := text.find(word)) >= 0), default=None)
        finished = length is not None or cut is not None
        return text[:cut], "stop" if finished else "length", len(tokens) if length is None else length

    def _logprobs(
        self, tokens: torch.Tensor, logits: Sequence[torch.Tensor], alternatives: int | None
    ) -> list[TokenLogprob] | None:
        """Return the log-probabilities of tokens; None where none are asked for."""
        if alternatives is None:
            return None
        tokenizer, _, _ = self._load()
        listed = []
        for token, raw in zip(tokens.tolist(), logits, strict=False):
            logs = torch.log_softmax(raw[0].float(), dim=-1)
            top = logs.topk(alternatives)
            listed.append(
                TokenLogprob(
                    token=tokenizer.decode([token]),
                    logprob=logs[token].item(),
                    top=[
                        (tokenizer.decode([other]), logprob)
                        for other, logprob in zip(top.indices.tolist(), top.values.tolist(), strict=True)
                    ],
                )
            )
        return listed

    def _error(self, fault: CallFault, problem: str) -> ModelCallError:
        return ModelCallError(fault, self.name, self.host, problem)


class _Grammar(LogitsProcessor):
    """Leaves only the tokens that a grammar allows after those drawn so far, which start at place ``start``."""

    def __init__(self, matcher: LLMatcher, start: int):
        self._matcher = matcher
        self._seen = start

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        for token in input_ids[0, self._seen :].tolist():
            self._matcher.consume_token(token)
        self._seen = input_ids.shape[1]
        mask = np.unpackbits(np.frombuffer(self._matcher.compute_bitmask(), dtype=np.uint8), bitorder="little")
        return scores.masked_fill(torch.from_numpy(mask[: scores.shape[1]] == 0), -torch.inf)


def _search(temperature: float | None, beams: int | None) -> dict[str, object]:
    """Return how `generate` chooses tokens; the model's own choice where there is no temperature."""
    if beams is not None:
        # without a penalty the score of an end is the sum over its tokens
        return {
            "do_sample": False,
            "num_beams": beams,
            "num_return_sequences": beams,
            "length_penalty": 0.0,
            "output_scores": True,
        }
    if temperature == 0:
        return {"do_sample": False}
    return {"do_sample": True, "temperature": 1.0 if temperature is None else temperature, "top_k": 0, "top_p": 1.0}
