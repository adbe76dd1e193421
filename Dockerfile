# One image; the command chooses what it is: `gnomon api`, `gnomon worker`, or anything else of `gnomon`.
FROM python:3.11-slim-bookworm

RUN useradd --create-home --uid 10001 gnomon && mkdir /app /data && chown gnomon /data
WORKDIR /app

# The dependencies first: they change less often than the code. The same script that `make` runs.
COPY requirements requirements
COPY scripts scripts
COPY pyproject.toml README.md LICENSE ./
COPY tools tools
COPY gnomon gnomon
COPY agents agents
COPY workers workers
COPY service service
COPY gnomon_conformance gnomon_conformance
COPY gnomon_lab gnomon_lab
COPY packages packages
RUN PIP_NO_CACHE_DIR=1 scripts/install /opt/gnomon run

ENV PATH=/opt/gnomon/bin:$PATH PYTHONDONTWRITEBYTECODE=1 GNOMON_DATA_DIR=/data
USER gnomon
VOLUME /data
EXPOSE 8000
ENTRYPOINT ["gnomon"]
CMD ["api", "--host", "0.0.0.0"]
