"""llama.cpp's own server (the wheel `xllamacpp`) on loopback, with random weights.

The model's output makes no sense; the server, its grammar and its templates are real.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from tests.real.servers import free_port

WIDTH, HEADS, BLOCKS, HIDDEN = 64, 4, 2, 128
END, START, CALL = "<|end|>", "<|start|>", "<tool_call>\n"
BIASED = {'"': 5.0, " ": 1.5, "e": 3.0, "a": 2.5, ".": 2.0, "}": 5.0, "]": 5.0, END: 5.5, CALL: 5.5}
"""What the model likes to say, by how much: quotes, so that strings of JSON end, and calls where the template has them.

For a temperature of 1: a colder model would say the likeliest of these again and again."""
PLAIN = """{%- for message in messages -%}<|start|>{{ message['role'] }}: {{ message['content'] }}<|end|>{%- endfor -%}
{%- if add_generation_prompt -%}<|start|>assistant: {% endif -%}"""
"""A chat template that knows no tools."""
WITH_TOOLS = """{%- if tools -%}<|start|>system\nAnswer by calls within <tool_call></tool_call>. <tools>
{%- for tool in tools %}\n{{ tool | tojson }}{%- endfor %}\n</tools><|end|>\n{%- endif -%}
{%- for message in messages -%}
{%- if message.role == 'tool' -%}<|start|>user\n<tool_response>\n{{ message.content }}\n</tool_response><|end|>\n
{%- else -%}<|start|>{{ message.role }}{%- if message.content %}\n{{ message.content }}{%- endif -%}
{%- for call in message.tool_calls or [] %}
<tool_call>\n{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}\n</tool_call>
{%- endfor -%}<|end|>\n{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}<|start|>assistant\n{%- endif -%}"""
"""One in the form that several families of models share, which the server knows."""


def is_installed() -> bool:
    return find_spec("xllamacpp") is not None and find_spec("gguf") is not None


def write_model(path: Path, template: str) -> Path:
    """Writes a `llama` model of half a megabyte with this chat template."""
    gguf: Any = import_module("gguf")

    tokens = [*byte_characters(), CALL, START, END]
    rng = np.random.default_rng(0)
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_context_length(8192)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(BLOCKS)
    writer.add_feed_forward_length(HIDDEN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    kinds = gguf.TokenType
    writer.add_token_types([kinds.NORMAL] * (len(tokens) - 3) + [kinds.USER_DEFINED, kinds.CONTROL, kinds.CONTROL])
    writer.add_token_merges(["h e"])
    writer.add_bos_token_id(len(tokens) - 2)
    writer.add_eos_token_id(len(tokens) - 1)
    writer.add_add_bos_token(False)
    writer.add_chat_template(template)
    for name, shape in _tensors(len(tokens)):
        values = np.ones(shape) if name.endswith("norm.weight") else rng.normal(0, 0.02, shape)
        if name == "token_embd.weight":
            values[:, 0] = 10.0  # equal in each state, so that the weight of an output on it is a bias
        elif name == "output.weight":
            values[:, 0] = [bias(token) if token != CALL or CALL in template else -1.0 for token in tokens]
        writer.add_tensor(name, values.astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


@contextmanager
def running_llama(model: Path, *, n_ctx: int = 8192) -> Iterator[str]:
    """Yields the server's base URL, as OpenAI's clients want it."""
    xllamacpp: Any = import_module("xllamacpp")

    params = xllamacpp.CommonParams()
    params.model.path = str(model)
    params.model_alias = {model.stem}
    params.hostnames = ["127.0.0.1"]
    params.port = free_port()
    params.use_jinja = True
    params.n_ctx = n_ctx
    params.n_parallel = 2
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.warmup = False
    params.verbosity = -1
    server = xllamacpp.Server(params)
    yield f"{server.listening_address}/v1"
    del server


def byte_characters() -> list[str]:
    """GPT-2's characters for the 256 bytes; printable ones stand for themselves."""
    printable = [*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    of_byte = {byte: chr(byte) for byte in printable} | {byte: chr(256 + at) for at, byte in enumerate(others)}
    return [of_byte[byte] for byte in range(256)]


def bias(token: str) -> float:
    """The weight of a token on the first number of the state, which is about 8 at the end."""
    character = " " if token == "\u0120" else token
    if character in BIASED:
        return BIASED[character] / 8
    return (1.5 if character.isascii() and character.isalpha() else -6.0 if not character.isascii() else 0.0) / 8


def _tensors(n_tokens: int) -> Iterator[tuple[str, tuple[int, ...]]]:
    yield "token_embd.weight", (n_tokens, WIDTH)
    for block in range(BLOCKS):
        for norm in ("attn_norm", "ffn_norm"):
            yield f"blk.{block}.{norm}.weight", (WIDTH,)
        for projection in ("attn_q", "attn_k", "attn_v", "attn_output"):
            yield f"blk.{block}.{projection}.weight", (WIDTH, WIDTH)
        for projection in ("ffn_gate", "ffn_up"):
            yield f"blk.{block}.{projection}.weight", (HIDDEN, WIDTH)
        yield f"blk.{block}.ffn_down.weight", (WIDTH, HIDDEN)
    yield "output_norm.weight", (WIDTH,)
    yield "output.weight", (n_tokens, WIDTH)
