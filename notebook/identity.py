"""The identity of a mutation: what makes a retry, a replay and a reset the same operation.

The id is a digest of the Temporal namespace, the workflow id, the run, the scope, the tool, the
fingerprint of the arguments and *n*: this is the n-th identical call of the run. It does not hold
the provider's tool call id, because a model that is asked again after a reset gives new ones, nor
`run_id`, which a reset changes. `run` is the original run's id, which survives resets, or an
`operation_scope` of the caller's own.

A caller that does not count its calls (another language, say) sends its tool call id in place of
*n*. The fingerprint is then not part of the id, so that the same call id with other arguments is a
conflict and not a second operation.

The recipe is versioned, and part of the digest: changing it in place would make a retry that
crosses a release a second operation.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

RECIPE = 1


def _digest(value: object) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def fingerprint(tool: str, arguments: Mapping[str, str | None]) -> str:
    """Return the digest of a tool call's arguments, 64 hexadecimal digits.

    Covers the supplied fields only: `None` is not supplied. So a release that adds a field, or
    changes a default, does not turn a retry into a conflict.

    Args:
        tool: The tool's name without a prefix, for example `write_memory`.
        arguments: The arguments as the model gave them.
    """
    supplied = {name: value for name, value in arguments.items() if value is not None}
    return _digest(["fingerprint", RECIPE, tool, supplied])


def operation_id(
    *,
    temporal_namespace: str,
    workflow_id: str,
    run: str,
    scope: str,
    tool: str,
    fingerprint: str,
    n: int | None = None,
    tool_call_id: str | None = None,
) -> str:
    """Return the id of an operation, 64 hexadecimal digits.

    Args:
        temporal_namespace: The namespace the workflow runs in.
        workflow_id: The workflow's id; `""` with an operation scope, since a parent that is reset
            gives its children new ids.
        run: The original run's id, or an operation scope.
        scope: The scope's key.
        tool: The tool's name without a prefix.
        fingerprint: As `fingerprint` returns it.
        n: Which of the run's identical calls this is, from 1.
        tool_call_id: The caller's own name for the call; used when `n` is `None`.

    Raises:
        ValueError: Neither `n` nor `tool_call_id` is given.
    """
    where = [temporal_namespace, workflow_id, run, scope, tool]
    if n is not None:
        return _digest(["operation", RECIPE, "counted", *where, fingerprint, n])
    if tool_call_id:
        return _digest(["operation", RECIPE, "named", *where, tool_call_id])
    raise ValueError("an operation needs n or a tool_call_id")


def unnamed_call(activity_id: str, place: int) -> str:
    """Return the name of a call whose caller gave none: right for retries of its activity.

    After a reset it is another call, and may be applied a second time.

    Args:
        activity_id: The activity's id, unique in its run.
        place: The call's place among those of the activity's record, from 0.
    """
    return f"activity:{activity_id}:{place}"
