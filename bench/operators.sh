#!/usr/bin/env bash
# Tunes the products that bench/RESULTS.md reports, on one and on two threads, and races the winners against OpenBLAS. `bash bench/operators.sh [seconds]`:
# seconds of tuning for each thread count (default 300). The stores are kept: a second run resumes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
bash .ci/setup.sh
folder=build/bench
mkdir -p "$folder"
library=$(ls .venv/lib/python3*/site-packages/scipy_openblas32/lib/libscipy_openblas*.so)
for threads in 1 2; do
  problems=(--problem 'matmul(m=1024, n=1024, k=1024)' --problem 'matmul(m=256, n=1024, k=1024)' --problem 'matmul(m=1536, n=1024, k=1024)')
  if [ "$threads" = 1 ]; then problems+=(--problem 'matmul(m=1, n=1024, k=1024)'); fi
  build/release/bin/kiln tune matmul "${problems[@]}" --threads "$threads" --for "${1:-300}s" --db "$folder/operators_$threads.db"
done
for threads in 1 2; do
  build/release/bin/operators_bench "$folder/operators_$threads.db" "$threads" "$library"
done
