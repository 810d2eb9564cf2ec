"""Loads models in Hugging Face format, quietly and on one thread."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from factloop.core.errors import ConfigError
from factloop.core.extras import Extra, require


@contextmanager
def loading_model(path_or_name: str, *, extra: Extra = "semantic") -> Iterator[None]:
    """Wraps the import and loading of a model. Failures are raised as ConfigError, chained to their cause.

    Limits torch to one thread for the whole process, unless OMP_NUM_THREADS is set, because two threads are four times
    slower on a busy machine. `extra` is the factloop extra that installs torch for the caller.
    """
    require(extra, f"the model {path_or_name!r}", "torch", "transformers")
    if _is_path(path_or_name) and not Path(path_or_name).exists():
        raise ConfigError(_unusable(path_or_name))  # raised before the import of torch, which takes seconds
    import torch
    from transformers.utils import logging

    if "OMP_NUM_THREADS" not in os.environ:
        torch.set_num_threads(1)
    had_progress_bar = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]  # not typed in transformers
    try:
        yield
    except (OSError, ValueError, ImportError) as error:
        raise ConfigError(_unusable(path_or_name)) from error
    finally:
        if had_progress_bar:
            logging.enable_progress_bar()  # type: ignore[no-untyped-call]  # not typed in transformers


def _unusable(path_or_name: str) -> str:
    return f"cannot load a model from {path_or_name!r}; use a model folder or the hub name of a downloaded model"


def _is_path(path_or_name: str) -> bool:
    return Path(path_or_name).is_absolute() or path_or_name.startswith((".", "~")) or path_or_name.count("/") > 1


def short_name(path_or_name: str) -> str:
    """Returns the last part of a folder's path, or a hub name unchanged."""
    path = Path(path_or_name)
    return path.name if path.is_dir() else path_or_name


def encodable(text: str) -> str:
    """Replaces lone surrogates, which tokenizers reject."""
    return text.encode("utf-8", "replace").decode("utf-8")
