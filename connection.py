"""The connection to Temporal, and the SDK's runtime behind it: its logs and its metrics."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from temporalio.client import Client, Interceptor
from temporalio.envconfig import ClientConfig
from temporalio.runtime import (
    LogForwardingConfig,
    LoggingConfig,
    PrometheusConfig,
    Runtime,
    TelemetryConfig,
    TelemetryFilter,
)

from durable_memory.settings import PREFIX, SettingsError

_DEFAULT_ADDRESS = "localhost:7233"


class TemporalUnreachable(Exception):  # noqa: N818  (as the other errors of this project)
    """The Temporal server does not answer: one line that says where it was looked for."""


async def connect(
    *, metrics_address: str = "", interceptors: Sequence[Interceptor] = (), lazy: bool = False
) -> Client:
    """Connect to Temporal as its own environment variables and `temporal.toml` say.

    Args:
        metrics_address: Where the SDK serves its metrics for Prometheus, as `host:port`; nowhere
            when empty.
        interceptors: Of the client, and so of its workers.
        lazy: Connect at the first call; a worker cannot use such a client.

    Raises:
        SettingsError: The configuration, or the address for the metrics, cannot be used.
        TemporalUnreachable: The server does not answer.
    """
    try:
        config = ClientConfig.load_client_connect_config()
    except Exception as error:  # noqa: BLE001  (the SDK names no class for it)
        # Only the first line: the next ones quote the file, which may hold a key.
        reason = str(error).split("\n", 1)[0]
        raise SettingsError(f"TEMPORAL_* or temporal.toml: {reason}") from None
    config.setdefault("target_host", _DEFAULT_ADDRESS)
    runtime = _runtime(metrics_address)
    try:
        return await Client.connect(**config, runtime=runtime, interceptors=interceptors, lazy=lazy)
    except ValueError:
        raise SettingsError("TEMPORAL_ADDRESS: is not host:port") from None
    except RuntimeError:
        address = config["target_host"]
        raise TemporalUnreachable(f"Temporal does not answer at {address}") from None


def _runtime(metrics_address: str) -> Runtime:
    """Return a runtime whose own logs go where ours go; their fields may hold what failed."""
    forwarding = LogForwardingConfig(
        logger=logging.getLogger("temporalio"), append_log_fields_to_message=False
    )
    logging_ = LoggingConfig(
        filter=TelemetryFilter(core_level="WARN", other_level="ERROR"), forwarding=forwarding
    )
    metrics = PrometheusConfig(bind_address=metrics_address) if metrics_address else None
    try:
        return Runtime(telemetry=TelemetryConfig(logging=logging_, metrics=metrics))
    except ValueError as error:
        raise SettingsError(f"{PREFIX}METRICS_ADDRESS: {error}") from None
