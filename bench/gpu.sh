#!/usr/bin/env bash
# Streams on a GPU: tunes the problems of bench/gpu/demand.txt on cuda:0, exports them as the set `streams`, calls one from C, then checks every
# kernel against float64 and times it beside PyTorch in one process. Needs a built kiln, cmake and a python3 with torch; takes about ten minutes. usage: bench/gpu.sh [SECONDS]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
kiln=${KILN:-$PWD/build/release/bin/kiln}
work=$PWD/build/bench_gpu
mkdir -p "$work"
export KILN_DB=$work/kiln.db

"$kiln" tune --demand bench/gpu/demand.txt --device cuda:0 --for "${1:-300}s"
"$kiln" export --set streams -o "$work/package"
cmake -S bench/gpu -B "$work/call" -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$work/package" >/dev/null
cmake --build "$work/call"
"$work/call/call"
python3 bench/gpu/compare.py "$work/package" | tee "$work/compare.md"
