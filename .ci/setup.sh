#!/usr/bin/env bash
# Everything that Kiln needs on Debian 12: apt packages, a .venv with the pinned wheels, and the release build. Idempotent; run from anywhere.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf '== %s\n' "$*"; }

# g++ brings cc, ld, objcopy and ar, which `kiln export` calls; python3-dev and libzstd-dev are asked for by Halide's and LLVM's CMake packages.
packages=(g++ python3-venv python3-dev llvm-19-dev libzstd-dev libsqlite3-dev libmbedtls-dev libgtest-dev libbenchmark-dev
          libcli11-dev libfmt-dev nlohmann-json3-dev pkg-config)
missing=()
for package in "${packages[@]}"; do
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
  say "installing ${missing[*]}"
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

stamp=.venv/requirements.installed
if ! cmp -s .ci/requirements.txt "$stamp"; then
  say "installing $(tr '\n' ' ' <.ci/requirements.txt)into .venv"
  [ -x .venv/bin/python ] || /usr/bin/python3 -m venv .venv
  .venv/bin/python -m pip install -q --disable-pip-version-check --no-deps -r .ci/requirements.txt  # no-deps: Halide's Python side is not used
  cp .ci/requirements.txt "$stamp"
fi

say "building build/release"
[ -f build/release/build.ninja ] || .venv/bin/cmake --preset release >/dev/null
.venv/bin/cmake --build --preset release -- --quiet
