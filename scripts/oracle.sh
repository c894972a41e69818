#!/bin/sh
# Gets wrangler (and Node, where the system's is older than 22) into build/oracle, and puts all questions to it.
# oracle.sh [--record]
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
build=$root/build/oracle
python=$root/.venv/bin/python
mkdir -p "$build"

wrangler=4.164
. "$root/scripts/wrangler.sh"

PATH=$root/build/workerd/node_modules/.bin:$PATH
export PATH
cd "$root"
exec "$python" -m tests.oracle "$build/node_modules/.bin/wrangler" "$@"
