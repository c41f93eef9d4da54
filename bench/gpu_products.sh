#!/usr/bin/env bash
# Tensor-core products on a GPU: tunes the problems of bench/gpu/products.txt on cuda:0, hot, in one run with at most 64 candidates each, and exports the winners as
# the set `qwen_ffn`, with the demand of a chat (bench/gpu/ffn.txt). Checks every kernel against float64 and times it beside cuBLASLt and PyTorch in one process; then
# the feed-forward half of a layer of Qwen3-8B within that layer. Needs a built kiln and a python3 with torch; takes about twenty minutes.
# usage: bench/gpu_products.sh [SECONDS of tuning]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
kiln=${KILN:-$PWD/build/release/bin/kiln}
work=$PWD/build/bench_gpu
mkdir -p "$work"
export KILN_DB=$work/products.db

"$kiln" tune --demand bench/gpu/products.txt --device cuda:0 --hot --candidates 64 --for "${1:-600}s"
"$kiln" demand import bench/gpu/ffn.txt
"$kiln" report
"$kiln" export --set qwen_ffn -o "$work/qwen_ffn"
python3 bench/gpu/products.py "$work/qwen_ffn" | tee "$work/products.md"
python3 bench/gpu/ffn.py "$work/qwen_ffn" | tee "$work/ffn.md"
