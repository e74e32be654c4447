"""What a failed request is answered with: always one JSON object with a code and a sentence.

| error_code | HTTP | when |
| --- | --- | --- |
| INVALID_PARAMETER_VALUE | 400, 413 for a body that is too large | the request breaks a rule |
| UNAUTHENTICATED | 401 | no token, or one that is malformed, unknown or revoked |
| PERMISSION_DENIED | 403 | the token's principal may not |
| NOT_FOUND | 404 | no such route, memory store or entry |
| METHOD_NOT_ALLOWED | 405 | the route has no such method |
| ALREADY_EXISTS | 409 | create of what exists |
| ABORTED | 409 | another writer was faster |
| IDEMPOTENCY_KEY_REUSED | 409 | the `Idempotency-Key` was used for another request |
| FAILED_PRECONDITION | 412 | own routes: `If-Match` or `If-None-Match` is not fulfilled |
| INTERNAL_ERROR | 500 | nobody foresaw it; the log has the place |
| NOT_IMPLEMENTED | 501 | a part of the API that this service does not have |
| UNAVAILABLE, DEADLINE_EXCEEDED | 504 | the database did not answer in time |

Never 429 or 503: the public clients repeat those for minutes, creations included. For the same
reason no message may hold the words by which they know a passing fault.
"""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import Any

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse

from ..notebook import (
    InvalidMemoryRequest,
    MemoryAlreadyExists,
    MemoryConflictError,
    MemoryDeadlineExceeded,
    MemoryFault,
    MemoryNotFound,
    MemoryOperationAbandonedError,
    MemoryOperationConflictError,
    MemoryPermissionDenied,
    MemoryRefusal,
    MemoryStoreUnavailable,
)
from ..stores import MemorySchemaMismatch

INVALID = "INVALID_PARAMETER_VALUE"
INTERNAL = "INTERNAL_ERROR"

NO_STORE = "No such memory store."
NO_ENTRY = "No such entry."

_FAULTS: dict[type[MemoryFault], tuple[int, str]] = {
    InvalidMemoryRequest: (400, INVALID),
    MemoryPermissionDenied: (403, "PERMISSION_DENIED"),
    MemoryNotFound: (404, "NOT_FOUND"),
    MemoryAlreadyExists: (409, "ALREADY_EXISTS"),
    MemoryConflictError: (409, "ABORTED"),
    MemoryOperationAbandonedError: (409, "ABORTED"),
    MemoryOperationConflictError: (409, "IDEMPOTENCY_KEY_REUSED"),
    MemoryDeadlineExceeded: (504, "DEADLINE_EXCEEDED"),
}
_SENTENCES: dict[type[MemoryFault], str] = {
    InvalidMemoryRequest: "The request breaks a rule.",
    MemoryPermissionDenied: "The token's principal may not do that.",
    MemoryNotFound: NO_STORE,
    MemoryOperationConflictError: (
        "Idempotency-Key: was used for another request; give each request one of its own."
    ),
}
"""In place of default sentences, which speak of tool calls and workers."""

_STATUSES = {
    400: INVALID,
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    405: "METHOD_NOT_ALLOWED",
    413: INVALID,
    501: "NOT_IMPLEMENTED",
}
_DOWN = "The database did not answer; nothing is known of the change, if there was one."
_FAILED = "The service failed; its log names the place."

_log = logging.getLogger("durable_memory.service")


class ServiceError(Exception):
    """A request that is answered with an error.

    Args:
        status: HTTP status.
        code: For programs.
        message: For people; goes to the caller and nowhere else.
    """

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code

    @classmethod
    def invalid(cls, message: str) -> ServiceError:
        """Return the error for a request that breaks a rule."""
        return cls(HTTPStatus.BAD_REQUEST, INVALID, message)


STOPPING = ServiceError(HTTPStatus.GATEWAY_TIMEOUT, "UNAVAILABLE", "The service is stopping.")
"""For a request that the end of the service cut short."""


def answer(error: Exception) -> JSONResponse:
    """Return the response for what a request failed with."""
    status, code, message = _verdict(error)
    headers = {"WWW-Authenticate": "Bearer"} if status == HTTPStatus.UNAUTHORIZED else {}
    if isinstance(error, HTTPException) and error.headers:
        headers.update(error.headers)
    return JSONResponse({"error_code": code, "message": message}, status, headers)


def is_ours(error: Exception) -> bool:
    """Tell whether it is the service or what is behind it that failed, and not the request."""
    return _verdict(error)[0] in {HTTPStatus.INTERNAL_SERVER_ERROR, HTTPStatus.GATEWAY_TIMEOUT}


async def handle(request: Request, error: Exception) -> JSONResponse:
    """Answer an error that came out of a route."""
    if is_ours(error):
        _log.error("a request failed", exc_info=error)
    if isinstance(error, MemoryNotFound) and _unsaid(error) and "entry" in request.path_params:
        return answer(MemoryNotFound(NO_ENTRY))
    return answer(error)


def _unsaid(error: MemoryFault) -> bool:
    """Tell whether an error has the default sentence of its kind."""
    return str(error) == str(type(error)())


def _verdict(error: Exception) -> tuple[int, str, str]:
    if isinstance(error, ServiceError):
        return error.status, error.code, str(error)
    if isinstance(error, RequestValidationError):
        return 400, INVALID, _first_fault(error.errors())
    if isinstance(error, HTTPException):
        code = _STATUSES.get(error.status_code, INVALID)
        return error.status_code, code, str(error.detail)
    return _fault_verdict(error)


def _fault_verdict(error: Exception) -> tuple[int, str, str]:
    if isinstance(error, MemoryRefusal):
        status, code = (404, "NOT_FOUND") if error.code == "not_found" else (400, INVALID)
        return status, code, str(error)
    if isinstance(error, MemoryStoreUnavailable | MemorySchemaMismatch):
        # Its own message is for whoever runs the service: it speaks of roles and tables.
        return 504, "UNAVAILABLE", _DOWN
    for kind, (status, code) in _FAULTS.items():
        if isinstance(error, kind):
            return status, code, _SENTENCES.get(kind, str(error)) if _unsaid(error) else str(error)
    return 500, INTERNAL, _FAILED


def _first_fault(faults: Any) -> str:
    """Say what is wrong with the first parameter that is, without its value."""
    fault = faults[0]
    where, *names = (str(part) for part in fault["loc"])
    if fault["type"] == "json_invalid":
        return "body: is not JSON"
    if where == "body" and not names:
        return "body: must be a JSON object, sent with Content-Type: application/json"
    return f"{'.'.join(names) or where}: {fault['msg'].removeprefix('Value error, ')}"
