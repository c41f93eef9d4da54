#!/usr/bin/env bash
# Streams on a GPU: tunes the problems of bench/gpu/demand.txt on cuda:0, hot and cold apart, exports the winners of each as the set `streams`, calls one from
# C, then checks every kernel against float64 and times it beside PyTorch in one process. Needs a built kiln, cmake and a python3 with torch; takes about a
# quarter of an hour. usage: bench/gpu.sh [SECONDS of tuning each]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
kiln=${KILN:-$PWD/build/release/bin/kiln}
work=$PWD/build/bench_gpu
mkdir -p "$work"

for cache in hot cold; do
  "$kiln" tune --demand bench/gpu/demand.txt --device cuda:0 --"$cache" --for "${1:-300}s" --db "$work/$cache.db"
  "$kiln" export --set streams -o "$work/$cache" --db "$work/$cache.db"
done
cmake -S bench/gpu -B "$work/call" -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$work/hot" >/dev/null
cmake --build "$work/call"
"$work/call/call"
python3 bench/gpu/compare.py "$work/hot" --cold "$work/cold" | tee "$work/compare.md"
