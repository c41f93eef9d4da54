#!/usr/bin/env bash
# Every plan of the CUDA spaces through the compiler, once a text: `bash bench/compile_all.sh [minutes]` (default 60). Outcomes are kept: a second run goes on.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
bash .ci/setup.sh
folder=build/bench
mkdir -p "$folder"
nice -n 19 build/release/bin/compile_all --minutes "${1:-60}" --kept "$folder/compile_all.txt"
