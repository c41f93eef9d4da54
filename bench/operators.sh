#!/usr/bin/env bash
# Tunes the products that bench/RESULTS.md reports, on one and on two threads, and races the winners against OpenBLAS. `bash bench/operators.sh [seconds]`:
# seconds of tuning for each problem and thread count (default 120). The stores are kept: a second run resumes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
bash .ci/setup.sh
folder=build/bench
mkdir -p "$folder"
library=$(ls .venv/lib/python3*/site-packages/scipy_openblas32/lib/libscipy_openblas*.so)
for threads in 1 2; do
  extents=(1024 256 1536)
  if [ "$threads" = 1 ]; then extents+=(1); fi  # a product of 50 us is no work for two threads
  for m in "${extents[@]}"; do
    build/release/bin/kiln tune matmul --problem "matmul(m=$m, n=1024, k=1024)" --threads "$threads" --for "${1:-120}s" --db "$folder/operators_$threads.db"
  done
done
for threads in 1 2; do
  build/release/bin/operators_bench "$folder/operators_$threads.db" "$threads" "$library"
done
