#!/usr/bin/env bash
# Tensor-core products on a GPU: tunes the problems of bench/gpu/products.txt on cuda:0, hot, exports the winners as the set `products`, checks every kernel against
# float64 and times it beside cuBLASLt and PyTorch in one process; then the same of a feed-forward layer (bench/gpu/ffn.txt, the set `qwen_ffn`) within a layer
# of Qwen3-8B. Needs a built kiln and a python3 with torch; takes about half an hour. usage: bench/gpu_products.sh [SECONDS of tuning each]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
kiln=${KILN:-$PWD/build/release/bin/kiln}
work=$PWD/build/bench_gpu
mkdir -p "$work"

tuned() {  # DEMAND SET SECONDS
  "$kiln" tune --demand "bench/gpu/$1.txt" --device cuda:0 --hot --for "${3}s" --db "$work/$1.db"
  "$kiln" export --set "$2" -o "$work/$2" --db "$work/$1.db"
}
tuned products products "${1:-600}"
python3 bench/gpu/products.py "$work/products" | tee "$work/products.md"
tuned ffn qwen_ffn "${1:-600}"
python3 bench/gpu/ffn.py "$work/qwen_ffn" | tee "$work/ffn.md"
