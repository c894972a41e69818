#!/bin/sh
# Gets what the comparison needs into build/bench (Node and wrangler; wrk from the system), then runs it.
# run.sh full|quick [options of bench.py]
set -eu

how=$1
shift
root=$(cd "$(dirname "$0")/.." && pwd)
build=$root/build/bench
python=$root/.venv/bin/python
mkdir -p "$build"

if ! command -v wrk >/dev/null; then
    [ "$(id -u)" = 0 ] || { echo "bench: wrk is needed (on Debian: apt-get install wrk)" >&2; exit 1; }
    apt-get update -qq >/dev/null && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq wrk >/dev/null
fi

wrangler=4
. "$root/scripts/wrangler.sh"

[ "$how" = full ] || set -- --quick "$@"
exec "$python" "$root/bench/bench.py" "$@"
