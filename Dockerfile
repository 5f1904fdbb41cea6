# syntax=docker/dockerfile:1

# ssdlab with its ledger, for artifact evaluation: ARTIFACT.md says how to run it.
#
#   docker build --tag ssdlab .
#   docker run --rm --init --volume "$PWD/out:/out" ssdlab

# Debian 12 in both stages, and Python 3.11: a wheel of one fits the other.
FROM rust:1-bookworm AS build
RUN apt-get update \
    && apt-get install --yes --no-install-recommends python3.11 python3.11-venv \
    && rm -rf /var/lib/apt/lists/*
RUN python3.11 -m venv /venv
ENV PATH=/venv/bin:$PATH \
    PIP_NO_CACHE_DIR=1

# The packages of the lock, each with its hash, as `make dev` installs them.
WORKDIR /src
COPY requirements/dev.lock requirements/dev.lock
RUN pip download --quiet --require-hashes --only-binary :all: \
        --requirement requirements/dev.lock --dest /wheels \
    && pip install --quiet --no-index --find-links /wheels maturin

# The compiler is the image's: rust-toolchain.toml, which asks for lints, too, stays outside.
COPY Cargo.toml Cargo.lock pyproject.toml README.md LICENSE ./
COPY crates crates
COPY python python
RUN pip wheel --no-deps --no-build-isolation --wheel-dir /wheels .

FROM python:3.11-slim-bookworm
LABEL org.opencontainers.image.title="ssdlab" \
    org.opencontainers.image.description="A fast, deterministic SSD simulator with its ledger" \
    org.opencontainers.image.licenses="Apache-2.0"
ENV PIP_NO_CACHE_DIR=1 \
    PIP_ROOT_USER_ACTION=ignore

# The font that figures ask for.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends fonts-liberation \
    && rm -rf /var/lib/apt/lists/*
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    pip install --quiet --no-index --find-links /wheels ssdlab

# The ledger beside the wheel: as in a checkout, a .pth file puts its folder on Python's path.
COPY LICENSE README.md /opt/ssdlab/
COPY examples /opt/ssdlab/examples
COPY reproduction /opt/ssdlab/reproduction
RUN packages="$(python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')" \
    && echo /opt/ssdlab/reproduction > "$packages/ssdlab-reproduction.pth"

# Results go to /out, which any user may write to: `--user` works with any number.
RUN useradd --create-home --uid 1000 ssdlab && install --directory --mode 1777 /out
USER 1000
WORKDIR /out
RUN python -c "import ssdlab_reproduction" && ssdlab doctor

ENTRYPOINT ["ssdlab"]
CMD ["reproduce", "hire", "--quick", "--out", "/out"]
