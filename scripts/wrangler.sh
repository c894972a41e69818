# To be sourced, with $root, $build, $python and $wrangler set: wrangler of version $wrangler in $build, and Node on PATH.

. "$root/scripts/node.sh"
[ -x "$build/node_modules/.bin/wrangler" ] ||
    npm install --silent --no-fund --no-audit --prefix "$build" "wrangler@$wrangler" >/dev/null
