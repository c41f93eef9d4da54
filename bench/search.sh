#!/usr/bin/env bash
# Kiln's search against random search in the sketch's space: 100 evaluations each, five pipelines, three seeds. About half an hour.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
bash .ci/setup.sh
build/release/bin/search_bench "$PWD/build/release/bin/kiln" --load build/release/bench/libapps.so --evaluations "${1:-100}" --seeds 3 \
  'harris(w=768, h=640, c=3)' 'unsharp_mask(w=768, h=640, c=3)' 'bilateral_grid(w=768, h=640)' \
  'depthwise_separable_conv(ci=32, co=16, w=56, h=56, n=2)' 'hist(w=768, h=640, c=3)'
