#!/usr/bin/env bash
# Builds the container's image without Docker and tries it: the embedded model answers a question in it, and the server
# answers on its port. It needs root, the network, the programs buildah and mmdebstrap, and the weights in the cache.
#
#     sudo benchmarks/image.sh [--keep FOLDER]
#
# The image `python:3.x-slim-bookworm` is made here of Debian's own packages, which have Python 3.11, since registries of
# images may be out of reach.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mktemp -d)
[ "${1:-}" = --keep ] && folder=$2 && mkdir -p "$folder"
[ "${1:-}" = --keep ] || trap 'rm -rf "$folder"' EXIT
export STORAGE_DRIVER=vfs BUILDAH_ISOLATION=chroot
store=(--root "$folder/store" --runroot "$folder/run")
weights=$("${PYTHON:-$root/.venv/bin/python}" -c 'from sqljury.llm import models; print(models.resolve("qwen2.5-coder-1.5b"))')

echo "== a base image of Debian's packages"
[ -f "$folder/base.tar" ] ||
    mmdebstrap --quiet --variant=minbase --include=python3,python3-venv,python-is-python3,ca-certificates \
        bookworm "$folder/base.tar"
printf 'FROM scratch\nADD base.tar /\nCMD ["python"]\n' >"$folder/Base"
buildah "${store[@]}" bud --quiet -t docker.io/library/python:3.11-slim-bookworm -f "$folder/Base" "$folder"

echo "== the image"
# Certificates and settings of this machine, for networks where packages come through a proxy.
own=()
for file in /etc/ssl/certs /etc/pip.conf; do [ -e "$file" ] && own+=(--volume "$file:$file:ro"); done
git clone --quiet "$root" "$folder/source"
buildah "${store[@]}" bud --quiet --format docker --pull=never --network host --build-arg PYTHON=3.11 "${own[@]}" \
    -t sqljury "$folder/source"
container=$(buildah "${store[@]}" from --pull=never sqljury)
buildah "${store[@]}" inspect --type image --format '{{.Docker.Config.User}} {{.Docker.Config.Entrypoint}}' sqljury
buildah "${store[@]}" images --format '{{.Name}} {{.Size}}'

echo "== a question, by the embedded model"
mkdir -p "$folder/data/models" "$folder/work"
cp "$weights" "$folder/data/models/"
"${PYTHON:-$root/.venv/bin/python}" "$folder/source/examples/shop/build.py" >"$folder/built"
cp "$folder/source/examples/shop/shop.db" "$folder/work/"
chown -R 10001 "$folder/data"
in_image() {
    buildah "${store[@]}" run -v "$folder/data:/data" -v "$folder/work:/work:ro" "$container" -- "$@"
}
in_image sh -c 'for place in /etc /work /opt/sqljury; do ! touch $place/x 2>/dev/null || exit 1; done; id'
in_image sqljury ask "How many customers are there?" --db shop.db --recipe fast

echo "== the server"
in_image sh -c 'umask 077; sqljury serve --new-token me >/tmp/tokens.toml 2>/tmp/token
    exec timeout 60 sqljury serve --db shop=shop.db --host 0.0.0.0 --port 8127 --allow-host localhost --tokens /tmp/tokens.toml' &
for _ in $(seq 60); do
    curl --silent --fail http://localhost:8127/healthz && break
    sleep 1
done
echo
[ "$(curl --silent --output /dev/null --write-out '%{http_code}' http://localhost:8127/v1/databases)" = 401 ]
kill %1
echo "the image is built and answers"
