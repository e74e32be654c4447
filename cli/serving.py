"""`durable-memory serve`: the memory service, until a signal."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from .. import logs
from ..embedding import open_embedder, open_nudger
from ..settings import Settings
from .errors import FAILED, MISUSED, CommandError, how_to_install
from .running import run


def run_serve() -> int:
    """Serve as the environment says, and return the exit code.

    Raises:
        CommandError: The service is not installed, or the database does not answer.
    """
    settings = Settings.load()
    try:
        # An extra: workers do without a web framework.
        from ..service import serve  # noqa: PLC0415
    except ModuleNotFoundError:
        message = f"the service is not installed: {how_to_install('serve')}"
        raise CommandError(message, exit_code=MISUSED) from None
    logs.configure(level=settings.log_level, as_json=settings.log_format == "json")
    try:
        return run(_with_embedder(serve, settings))
    except ConnectionError as error:
        raise CommandError(str(error), exit_code=FAILED) from None


async def _with_embedder(serve: Callable[..., Awaitable[None]], settings: Settings) -> int:
    async with open_embedder(settings) as embedder:
        if embedder is None:
            await serve(settings)
            return 0
        async with open_nudger(settings) as nudger:
            await serve(settings, embedder=embedder, on_write=nudger.nudge)
    return 0
