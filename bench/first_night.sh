#!/usr/bin/env bash
# The main job: sets up, tunes four problems for three minutes, shows what that was worth, exports the best kernels as the set `night`, and builds
# and runs a C application that links them. Everything stays in build/first_night; a second run resumes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
bash .ci/setup.sh

kiln=$PWD/build/release/bin/kiln
night=$PWD/build/first_night
mkdir -p "$night"
export KILN_DB=$night/kiln.db

echo "== tuning for 180 s"
"$kiln" tune matmul swiglu --demand bench/first_night/demand.txt --for 180s
echo "== exporting the set 'night'"
"$kiln" export --set night -o "$night/package"
echo "== building and running the application"
mkdir -p "$night/application"
cp bench/first_night/application.c bench/first_night/CMakeLists.txt "$night/application/"
PATH=$PWD/.venv/bin:$PATH cmake -S "$night/application" -B "$night/application/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$night/package" >/dev/null
"$PWD/.venv/bin/cmake" --build "$night/application/build" -- --quiet
"$night/application/build/application" "$night/calls.txt"
echo "== the calls that the package counted, as demand for the next night ($night/calls.txt)"
cat "$night/calls.txt"
