#!/bin/sh
# Serves an onboarding Worker on port $1, as its user would: apply the migrations, then `flarebed dev`.
# $2 is its language: py (fixtures/onboarding) or ts (fixtures/onboarding-ts).
set -eu

port=$1
language=$2
url=http://localhost:$port
tenant=acme-$(date +%s)
flarebed=$PWD/.venv/bin/flarebed
case $language in
py) folder=fixtures/onboarding other=ts ;;
ts) folder=fixtures/onboarding-ts other=py PATH=$PWD/build/workerd/node_modules/.bin:$PATH ;;
*) echo "WORKER is py or ts, not $language" >&2 && exit 2 ;;
esac
cd "$folder"
"$flarebed" d1 migrations apply tenants

cat <<END

This is $folder. The same Worker in the other language: make demo WORKER=$other
Try, in another terminal (the workflow finishes after its sleep of 30 seconds):

  curl $url -H 'content-type: application/json' -d '{"tenantId": "$tenant", "requestedBy": "you"}'
END
if [ "$language" = py ]; then
    cat <<END
  curl $url/status/tenant-$tenant
  curl $url/tenants/$tenant

END
else
    cat <<END
  cd $folder
  $flarebed workflows instances describe onboarding latest
  $flarebed d1 execute tenants --command "SELECT * FROM tenants"
  $flarebed queues peek jobs

END
fi
exec "$flarebed" dev --port "$port"
