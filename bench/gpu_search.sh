#!/usr/bin/env bash
# How near the best of all points Kiln's search on a GPU comes in 40 evaluations: every point of two spaces measured, then five searches. About five minutes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
bin=${KILN_BIN:-$PWD/build/release/bin}
"$bin/search_bench" "$bin/kiln" --device cuda:0 --exhaustive --evaluations 40 --seeds 5 'swiglu(m=1024, n=12288, bf16)' 'transpose(m=4096, n=4096)'
