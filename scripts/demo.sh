#!/bin/sh
# Serves the onboarding Worker on port $1, as its user would: apply the migrations, then `flarebed dev`.
set -eu

port=$1
url=http://localhost:$port
tenant=acme-$(date +%s)
flarebed=$PWD/.venv/bin/flarebed
cd fixtures/onboarding
"$flarebed" d1 migrations apply tenants

cat <<END

Try, in another terminal (the workflow finishes after its sleep of 30 seconds):

  curl $url -H 'content-type: application/json' -d '{"tenantId": "$tenant", "requestedBy": "you"}'
  curl $url/status/tenant-$tenant
  curl $url/tenants/$tenant

END
exec "$flarebed" dev --port "$port"
