#!/bin/sh
# Gets what runs JavaScript Workers, workerd and esbuild, into $1/node_modules, as a project would from npm.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
build=$1
python=$root/.venv/bin/python
mkdir -p "$build"

. "$root/scripts/node.sh"
npm install --silent --no-fund --no-audit --prefix "$build" workerd@1.20261117.1 esbuild@0.28 >/dev/null
