"""The one way in which models of the Hugging Face format are loaded: quietly, on one thread, with our own errors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from factloop.errors import ConfigError


@contextmanager
def loading_model(path_or_name: str) -> Iterator[None]:
    """Around the import and the loading of a model: failures leave it as ConfigError, chained to their cause.

    Holds torch to one thread for the whole process: on a machine that does anything else, two are four times slower.
    """
    try:
        import torch
        from transformers.utils import logging
    except ImportError as error:
        raise ConfigError("this needs the extra with torch: pip install 'factloop[semantic]'") from error
    torch.set_num_threads(1)
    had_progress_bar = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]  # transformers leaves it so
    try:
        yield
    except (OSError, ValueError, ImportError) as error:
        raise ConfigError(
            f"no usable model at {path_or_name!r}: give its folder, or a hub name that was downloaded before"
        ) from error
    finally:
        if had_progress_bar:
            logging.enable_progress_bar()  # type: ignore[no-untyped-call]  # transformers leaves it so
