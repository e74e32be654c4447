# The worker. Configured by DURABLE_MEMORY_* and TEMPORAL_* variables; see README.md.
FROM python:3.13-slim AS build
WORKDIR /source
COPY . .
RUN pip wheel --no-cache-dir --wheel-dir /wheels .

FROM python:3.13-slim
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    pip install --no-cache-dir --no-index --find-links /wheels durable-memory
RUN useradd --system --no-create-home worker
USER worker
STOPSIGNAL SIGTERM
ENTRYPOINT ["durable-memory"]
CMD ["worker"]
