#!/usr/bin/env bash
# Does `kiln tune --for 60s` end within 66 s with a choice made, for every shipped operator and for an outside generator, and does `kiln status` answer
# meanwhile? Prints a table; exits 1 when a promise is broken. About eleven minutes. `bash bench/promise.sh [seconds]` tries another budget.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
bash .ci/setup.sh
kiln=$PWD/build/release/bin/kiln
budget=${1:-60}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
broken=0
printf '| operator | --for | took | status meanwhile | choice |\n|---|---|---|---|---|\n'
for operator in conv matmul matvec rmsnorm softmax swiglu swiglu_quant transpose unsharp exposure; do
  load=()
  if [ "$operator" = exposure ]; then load=(--load build/release/tests/plugins/libplain_generator.so); fi
  start=$(date +%s.%N)
  "$kiln" tune "$operator" "${load[@]}" --for "${budget}s" --db "$folder/$operator.db" --quiet >"$folder/out" 2>"$folder/err" &
  tuner=$!
  sleep $((budget / 2))
  if "$kiln" status --db "$folder/$operator.db" >/dev/null; then status=answers; else status=FAILS; broken=1; fi
  if ! wait "$tuner"; then echo "$operator: kiln tune failed:"; cat "$folder/err"; broken=1; fi
  took=$(python3 -c "import time; print(f'{time.time() - $start:.1f}')")
  choice=$("$kiln" best --db "$folder/$operator.db" --json | python3 -c "import json, sys; r = json.load(sys.stdin)[0]; print(f\"{r['speedup']:.2f}x {r['baseline']}\")")
  if python3 -c "exit(0 if $took > $budget * 1.1 else 1)"; then broken=1; took="$took (late)"; fi
  printf '| %s | %s s | %s s | %s | %s |\n' "$operator" "$budget" "$took" "$status" "$choice"
done
exit "$broken"
