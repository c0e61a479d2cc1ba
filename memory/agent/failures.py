"""What can go wrong between the agent and its model.

HermesStateError
├── ModelFault                       50   the model could not answer
│   ├── ModelUnreachable             51   no connection, or it broke before anything was said
│   ├── ModelOverloaded              52   the endpoint is busy or failing (408, 429, 5xx)
│   ├── ModelRefused                 53   the endpoint does not take the request (key, model name, arguments)
│   │   └── ContextTooLong           54   the conversation does not fit into the model's context
│   ├── ModelAnswerBroken            55   the answer ended early or can't be read
│   └── ModelAborted                 56   the call was ended from this side
└── AgentBusy                        57   a turn is running; one conversation takes one at a time
"""

from __future__ import annotations

from hermes_state.errors import HermesStateError


class ModelFault(HermesStateError):
    """The model could not answer.

    Attributes:
        retry_after_s: seconds after which the endpoint wants to be asked again; None: it did not say.
    """

    exit_code = 50

    def __init__(self, message: str, *, hint: str = "", retry_after_s: float | None = None) -> None:
        super().__init__(message, hint=hint)
        self.retry_after_s = retry_after_s


class ModelUnreachable(ModelFault):
    """There was no connection, it timed out, or it broke."""

    exit_code = 51
    retryable = True


class ModelOverloaded(ModelFault):
    """The endpoint is busy or failing; asking again later may work."""

    exit_code = 52
    retryable = True


class ModelRefused(ModelFault):
    """The endpoint does not take this request; the same one will not work later either."""

    exit_code = 53


class ContextTooLong(ModelRefused):
    """The conversation does not fit into the model's context."""

    exit_code = 54


class ModelAnswerBroken(ModelFault):
    """The answer ended early, or is not what the protocol says."""

    exit_code = 55
    retryable = True


class ModelAborted(ModelFault):
    """The call was ended from this side, as when a review is cancelled."""

    exit_code = 56


class AgentBusy(HermesStateError):
    """A turn of this conversation is running."""

    exit_code = 57
    retryable = True
