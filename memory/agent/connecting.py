"""From settings to a model one can talk to. Importing this needs the extra `agent`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_state.errors import InvalidValue
from memory.agent.model.openai import OpenAIModel

if TYPE_CHECKING:
    from collections.abc import Callable

    from memory.agent.model import Model
    from memory.agent.settings import ModelSettings
    from memory.settings import MemorySettings


def connect(chosen: ModelSettings, *, on_wait: Callable[[str], object] = lambda _words: None) -> Model:
    """The model that these settings name. Nothing is asked yet.

    Args:
        on_wait: is told why there is a wait, before a busy endpoint is asked again.

    Raises:
        InvalidValue: the base URL is none.
    """
    return OpenAIModel(chosen.name, base_url=chosen.base_url, api_key=chosen.api_key or None, on_wait=on_wait)


def connect_review(chosen: ModelSettings, settings: MemorySettings) -> Model | None:
    """The model of background reviews; None: the conversation's own.

    A model that is named without a base URL is asked where the conversation's is.

    Raises:
        InvalidValue: the base URL is none.
    """
    if not settings.review_model:
        if settings.review_base_url:
            raise InvalidValue(
                "auxiliary.background_review has a base_url and no model", hint="name its model too, or remove both"
            )
        return None
    own_url = settings.review_base_url
    key = settings.review_api_key or (chosen.api_key if not own_url or own_url == chosen.base_url else "")
    return OpenAIModel(settings.review_model, base_url=own_url or chosen.base_url, api_key=key or None)
