"""The story of the demo: sessions, a killed worker, a reset, and what is left.

```
first session     worker A answers it
second session    worker A is killed after the commit of a note and before Temporal heard of it;
                  worker B takes over and ends the session;
                  the run is reset to before the model call that led to that note
other sessions    worker B answers them
```
"""

from __future__ import annotations

from collections.abc import Sequence

from ...notebook import COMPLETE, WRITE
from ..faults import RowLock, connected, count_receipts, reset_before_model_call, row_lock
from ..processes import WorkerProcess
from .evidence import Activities, read_notebook, read_run
from .proof import Evidence
from .stage import Run, Stage
from .transcript import Session

_INTERRUPTED = 1
"""Which session is interrupted: the second, so that there is a notebook to lock."""


async def tell(stage: Stage, sessions: Sequence[Session]) -> Evidence:
    """Play the story and collect the evidence.

    Raises:
        CommandError: A worker ended by itself, a session failed, or a wait took too long.
    """
    before, interrupted, after = sessions[0], sessions[_INTERRUPTED], sessions[_INTERRUPTED + 1 :]
    async with stage.worker() as worker:
        runs = [await _session(stage, worker, 1, before)]
        crashed, notes = await _interrupt(stage, worker, interrupted)
    async with stage.worker() as worker:
        with stage.narrator.step("another worker takes over, and the session ends"):
            await worker.while_up(stage.result(crashed))
        with stage.narrator.step(f"reset to before the model call that led to note {notes}"):
            again = await _reset(stage, crashed, notes)
            await worker.while_up(stage.result(again))
        runs += [crashed, again]
        for number, session in enumerate(after, start=_INTERRUPTED + 2):
            runs.append(await _session(stage, worker, number, session))
    return await _collect(stage, sessions, runs, crashed=crashed, again=again)


async def _session(stage: Stage, worker: WorkerProcess, number: int, session: Session) -> Run:
    with stage.narrator.step(f"session {number}: {len(session.lines)} lines"):
        run = await stage.begin(number, session)
        await worker.while_up(stage.result(run))
    return run


async def _interrupt(stage: Stage, worker: WorkerProcess, session: Session) -> tuple[Run, int]:
    """Start a session and kill its worker; return the run and which note was being written."""
    before = len(session.lines) // 2
    async with row_lock(stage.stack.store, stage.scope) as lock:
        await lock.hold()
        run = await stage.begin(_INTERRUPTED + 1, session)
        what = f"session {_INTERRUPTED + 1}: {len(session.lines)} lines"
        with stage.narrator.step(f"{what}; the row is locked half way through"):
            passed = await worker.while_up(lock.let_through(run.workflow_id, before))
            backend = await worker.while_up(lock.waiting_backend())
        note = passed + 1
        stage.narrator.say(f"the worker's backend {backend} waits for the row")
        await _kill_after_commit(stage, worker, lock, run, note)
    return run, note


async def _kill_after_commit(
    stage: Stage, worker: WorkerProcess, lock: RowLock, run: Run, note: int
) -> None:
    worker.freeze()
    with stage.narrator.step(f"worker {worker.pid} stopped, row let go, receipt committed"):
        await lock.release()
        await lock.wait_for_receipts(run.workflow_id, note)
    await worker.kill()
    stage.narrator.say(f"worker {worker.pid} killed before Temporal heard of note {note}")


async def _reset(stage: Stage, run: Run, note: int) -> Run:
    """Reset a run to before the model call that led to its n-th note."""
    client = stage.stack.client
    handle = client.get_workflow_handle(run.workflow_id, run_id=run.run_id)
    again = await reset_before_model_call(client, handle, await _model_call(stage, run, note))
    return Run(workflow_id=run.workflow_id, run_id=again.run_id or "")


async def _model_call(stage: Stage, run: Run, note: int) -> int:
    """Return which model call, from 0, led to the n-th note."""
    activities = Activities(await stage.history(run))
    written = list(activities.scheduled(WRITE))[note - 1].event_id
    before = [event for event in activities.scheduled(COMPLETE) if event.event_id < written]
    return len(before) - 1


async def _collect(
    stage: Stage, sessions: Sequence[Session], runs: Sequence[Run], *, crashed: Run, again: Run
) -> Evidence:
    with stage.narrator.step(f"reading and replaying {len(runs)} histories"):
        client = stage.stack.client
        records = {run: await read_run(client, run.workflow_id, run.run_id) for run in runs}
    content, notes = await read_notebook(stage.stack.store, stage.scope)
    async with connected(stage.stack.store) as connection:
        receipts = await count_receipts(connection, {run.workflow_id for run in runs})
    return Evidence(
        said=tuple(line for session in sessions for line in session.lines),
        notes=notes,
        content=content,
        receipts=receipts,
        runs=tuple(records.values()),
        crashed=records[crashed],
        again=records[again],
    )
