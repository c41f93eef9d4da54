#!/usr/bin/env bash
# Tunes ten pipelines of the kind that Halide ships as applications, then races what Kiln chose against Mullapudi2016, Adams2019 and a hand schedule.
# `bash bench/apps.sh [seconds [operator…]]`: seconds of tuning each (default 360; 0: race what is tuned already). Everything is kept in
# build/bench: a second run resumes, and Adams2019 searches once.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
bash .ci/setup.sh
seconds=${1:-360}
apps=("${@:2}")
if [ ${#apps[@]} -eq 0 ]; then
  apps=(bilateral_grid conv_layer depthwise_separable_conv harris hist iir_blur local_laplacian max_filter nl_means unsharp_mask)
fi
folder=build/bench
mkdir -p "$folder"
if [ "$seconds" -gt 0 ]; then
  for app in "${apps[@]}"; do
    build/release/bin/kiln tune "$app" --load build/release/bench/libapps.so --for "${seconds}s" --wait --db "$folder/apps.db"
  done
fi
build/release/bin/apps_bench "$PWD/build/release/bin/kiln" "$folder/apps.db" "$folder/apps" "${apps[@]}"
