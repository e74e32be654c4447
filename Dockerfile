# The worker and the memory service. Configured by DURABLE_MEMORY_*, TEMPORAL_* and OTEL_* variables;
# see README.md.
FROM python:3.13-slim AS build
WORKDIR /source
COPY . .
RUN pip wheel --no-cache-dir --wheel-dir /wheels '.[embedder,otel,serve]'

FROM python:3.13-slim
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    pip install --no-cache-dir --no-index --find-links /wheels 'durable-memory[embedder,otel,serve]'
ENV DURABLE_MEMORY_EMBEDDER=wordllama:
RUN useradd --system --no-create-home worker
USER worker
STOPSIGNAL SIGTERM
ENTRYPOINT ["durable-memory"]
CMD ["worker"]
