#!/usr/bin/env bash
# Sets up and passes the tests. Takes no arguments; a second run takes as long as the tests do.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
bash .ci/setup.sh
echo "== testing"
.venv/bin/ctest --preset release --parallel 2 --timeout 900
