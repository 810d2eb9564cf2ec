"""`transformers serve` on loopback, with random weights.

It accepts `response_format`, `tool_choice` and `logprobs` but ignores them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tests.real.llama import BLOCKS, END, HEADS, HIDDEN, PLAIN, START, WIDTH, bias, byte_characters
from tests.real.servers import free_port, running

NEEDED = ("transformers", "torch", "accelerate", "fastapi", "uvicorn")


def is_installed() -> bool:
    return all(find_spec(name) is not None for name in NEEDED)


def write_model(folder: Path) -> Path:
    torch: Any = import_module("torch")
    tokenizers: Any = import_module("tokenizers")
    transformers: Any = import_module("transformers")

    transformers.utils.logging.disable_progress_bar()
    tokens = [*byte_characters(), START, END]
    built = tokenizers.Tokenizer(tokenizers.models.BPE(vocab={token: at for at, token in enumerate(tokens)}, merges=[]))
    built.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    built.decoder = tokenizers.decoders.ByteLevel()
    built.add_special_tokens([START, END])
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=built, bos_token=START, eos_token=END, pad_token=END
    )
    tokenizer.chat_template = PLAIN
    tokenizer.save_pretrained(folder)

    torch.manual_seed(0)
    end = len(tokens) - 1
    config = transformers.LlamaConfig(
        vocab_size=len(tokens),
        hidden_size=WIDTH,
        intermediate_size=HIDDEN,
        num_hidden_layers=BLOCKS,
        num_attention_heads=HEADS,
        max_position_embeddings=8192,
        bos_token_id=end - 1,
        eos_token_id=end,
        pad_token_id=end,
    )
    model = transformers.LlamaForCausalLM(config)
    with torch.no_grad():
        model.model.embed_tokens.weight[:, 0] = 10.0  # equal in each state: the weight of an output on it is a bias
        model.lm_head.weight[:, 0] = torch.tensor([bias(token) for token in tokens])
    model.generation_config.do_sample = True
    model.save_pretrained(folder)
    return folder


@contextmanager
def running_transformers(model: Path) -> Iterator[str]:
    port = free_port()
    command = [sys.executable, "-m", "transformers.cli.transformers", "serve", str(model)]
    command += ["--host", "127.0.0.1", "--port", str(port), "--device", "cpu"]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    with running(command, port, "/health", within_s=120.0, env=environment):
        yield f"http://127.0.0.1:{port}/v1"
