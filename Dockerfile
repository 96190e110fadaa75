# sqljury as a server: the page, the HTTP API, and every command. docs/container.md says how to build and run it.
#
#   docker build -t sqljury .                               weights come from a volume at /data
#   docker build -t sqljury --build-arg WEIGHTS=yes .       weights are in the image (1.1 GB more)

ARG PYTHON=3.12
FROM python:${PYTHON}-slim-bookworm AS build
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY src ./src
ARG EXTRAS=serve,mcp,postgres,mysql,duckdb,openai,anthropic,gemini,sandbox
RUN python -m venv /opt/sqljury \
    && /opt/sqljury/bin/pip install --no-cache-dir --disable-pip-version-check ".[${EXTRAS}]"

FROM python:${PYTHON}-slim-bookworm
ARG WEIGHTS=no
# libgomp1: the embedded model's library is linked to it, and slim images lack it.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends libgomp1 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 10001 --home-dir /data --no-create-home --shell /usr/sbin/nologin sqljury \
    && install -d -o sqljury -g sqljury /data \
    && mkdir /work
COPY --from=build /opt/sqljury /opt/sqljury
ENV PATH=/opt/sqljury/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    SQLJURY_CACHE=/data
WORKDIR /work
USER 10001
RUN if [ "$WEIGHTS" = yes ]; then sqljury models pull; fi
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/healthz', timeout=4)"]
ENTRYPOINT ["sqljury"]
CMD ["--help"]
