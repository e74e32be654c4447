"""The error tree. The default message of an error is the first paragraph of its docstring.

```
MemoryFault
├── MemoryRefusal                   the model's mistake: becomes a tool result, not a failure
├── InvalidMemoryRequest            not retried
├── MemoryPermissionDenied          not retried
├── MemoryNotFound                  not retried
├── MemoryAlreadyExists             not retried
├── MemoryOperationConflictError    not retried
├── MemoryOperationAbandonedError   not retried
├── MemoryDeadlineExceeded          not retried
├── MemoryScopeViolation            not retried
├── MemoryConflictError             retried
├── MemorySchemaMismatch            retried
└── MemoryStoreUnavailable          retried
    └── MemoryStoreRefused          retried
```

The class name is the type string that travels through Temporal, and is stable. No message
carries content, a file name, a namespace or a query unless it is a `MemoryRefusal`, whose
message goes to the model that sent them and nowhere else.
"""

from __future__ import annotations

import inspect
from typing import ClassVar


class MemoryFault(Exception):
    """The memory operation failed."""

    retryable: ClassVar[bool] = False

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or inspect.cleandoc(type(self).__doc__ or "").split("\n\n")[0])

    @property
    def type(self) -> str:
        """The stable type string of this error on the wire."""
        return type(self).__name__


class MemoryRefusal(MemoryFault):
    """The call cannot be carried out as it was asked; nothing was changed.

    Raised by the rules and by the stores, caught by the activities and the handle, and given to
    the model as a tool result that says what to do.

    Args:
        code: One of `REFUSAL_CODES`, for programs.
        message: One or two sentences for the model.
    """

    def __init__(self, code: str, message: str) -> None:
        if code not in REFUSAL_CODES:
            raise ValueError(f"unknown refusal code {code!r}; use one of {sorted(REFUSAL_CODES)}")
        super().__init__(message)
        self.code = code


REFUSAL_CODES = frozenset(
    {
        "ambiguous",  # `old_text` occurs more than once
        "invalid_arguments",  # the tool call does not fit the tool's schema
        "invalid_name",  # not a memory file name
        "invalid_query",  # empty, too long or too many terms
        "invalid_text",  # NUL or a lone surrogate
        "not_found",  # no such file
        "oversize",  # the file or the record is or would be too large
        "protected",  # `MEMORY.md` cannot be deleted
        "text_not_found",  # `old_text` does not occur
        "unavailable",  # the store did not answer in time; nothing was or will be written
        "undecided",  # as above, but whether it was written is not known yet
        "unknown_tool",  # no memory tool has this name
    }
)


class InvalidMemoryRequest(MemoryFault, ValueError):
    """The memory request is malformed: correct the scope, the limits or the record."""


class MemoryPermissionDenied(MemoryFault):
    """This worker may not serve that scope or store: add it to the worker's allow-list."""


class MemoryNotFound(MemoryFault):
    """No such document."""


class MemoryAlreadyExists(MemoryFault):
    """There is one already: read it and update it, or put in one step."""


class MemoryOperationConflictError(MemoryFault):
    """An operation id was reused with other arguments: give each tool call its own id."""


class MemoryOperationAbandonedError(MemoryFault):
    """The operation was given up before it was applied, and can never be: send a new one."""


class MemoryDeadlineExceeded(MemoryFault):
    """The operation's deadline passed before it could be applied; nothing was changed."""


class MemoryScopeViolation(MemoryFault):
    """The memory store returned a file of another scope: report it to whoever makes the store."""


class MemoryConflictError(MemoryFault):
    """The stored version is not the expected one: read again and retry."""

    retryable = True


class MemoryStoreUnavailable(MemoryFault):
    """The memory store did not answer: check that it is up and reachable."""

    retryable = True


class MemoryStoreRefused(MemoryStoreUnavailable):
    """The database refused the connection: check the database's name, the role and its password."""

    # Retried like its base class: a password can be mended while workflows wait.


class MemorySchemaMismatch(MemoryFault):
    """The database and this release do not fit each other."""

    # Not the workflow's fault: during a rollout another worker may fit.
    retryable = True
