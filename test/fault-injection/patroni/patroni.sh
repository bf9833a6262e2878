#!/bin/sh
# A Patroni cluster of two nodes with etcd and haproxy on this machine, for tests.
# It needs: apt-get install patroni etcd-server haproxy
#
#   patroni.sh start [folder]     prints the address of the owner through haproxy, and that of both hosts
#   patroni.sh node N [folder]    starts node 1 or 2 again after a kill
#   patroni.sh ctl [folder] …     runs patronictl, such as: ctl /tmp/payouts-patroni switchover --force
#   patroni.sh stop [folder]      ends everything and removes the folder
#
# Process numbers are in the folder: etcd.pid, patroni1.pid, patroni2.pid, haproxy.pid, and pg1/postmaster.pid.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
action=$1
shift
[ "$action" = node ] && { node=$1; shift; }
DIR=${1:-/tmp/payouts-patroni}
[ $# -gt 0 ] && shift
BASE=${PATRONI_BASE_PORT:-5500}
HAPROXY_PORT=$BASE PG1_PORT=$((BASE + 1)) PG2_PORT=$((BASE + 2)) REST1_PORT=$((BASE + 11)) REST2_PORT=$((BASE + 12))
ETCD_PORT=$((BASE + 20)) PEER_PORT=$((BASE + 21)) PASSWORD=patroni-test

fill() { # replaces the variables of a file
  sed -e "s|@DIR@|$DIR|g; s|@NODE@|${NODE:-}|g; s|@PG_PORT@|${PG_PORT:-}|g; s|@REST_PORT@|${REST_PORT:-}|g" \
    -e "s|@ETCD_PORT@|$ETCD_PORT|g; s|@PASSWORD@|$PASSWORD|g; s|@HAPROXY_PORT@|$HAPROXY_PORT|g" \
    -e "s|@PG1_PORT@|$PG1_PORT|g; s|@PG2_PORT@|$PG2_PORT|g; s|@REST1_PORT@|$REST1_PORT|g; s|@REST2_PORT@|$REST2_PORT|g" "$1"
}

background() { # name command…
  name=$1
  shift
  [ "$(id -u)" = 0 ] && set -- setpriv --reuid=postgres --regid=postgres --init-groups "$@"
  "$@" >>"$DIR/$name.log" 2>&1 </dev/null &
  echo $! >"$DIR/$name.pid"
}

start_node() {
  NODE=$1
  eval "PG_PORT=\$PG${NODE}_PORT REST_PORT=\$REST${NODE}_PORT"
  fill "$here/node.yml" >"$DIR/node$NODE.yml"
  background "patroni$NODE" patroni "$DIR/node$NODE.yml"
}

end() { # of a process whose number is in a file
  [ -s "$1" ] && kill "-$2" "$(head -n 1 "$1")" 2>/dev/null || true
}

case $action in
  start)
    mkdir -p "$DIR"
    [ "$(id -u)" = 0 ] && chown postgres: "$DIR"
    background etcd etcd --data-dir "$DIR/etcd" --listen-client-urls "http://127.0.0.1:$ETCD_PORT" \
      --advertise-client-urls "http://127.0.0.1:$ETCD_PORT" --listen-peer-urls "http://127.0.0.1:$PEER_PORT" \
      --initial-advertise-peer-urls "http://127.0.0.1:$PEER_PORT" --initial-cluster "default=http://127.0.0.1:$PEER_PORT"
    start_node 1
    until curl -sf "http://127.0.0.1:$REST1_PORT/primary" >/dev/null; do sleep 0.5; done
    start_node 2
    fill "$here/haproxy.cfg" >"$DIR/haproxy.cfg"
    background haproxy haproxy -f "$DIR/haproxy.cfg"
    until curl -sf "http://127.0.0.1:$REST2_PORT/synchronous" >/dev/null; do sleep 0.5; done
    echo "postgresql://postgres:$PASSWORD@127.0.0.1:$HAPROXY_PORT/postgres"
    echo "postgresql://postgres:$PASSWORD@127.0.0.1:$PG1_PORT,127.0.0.1:$PG2_PORT/postgres"
    ;;
  node) start_node "$node" ;;
  ctl) patronictl -c "$DIR/node1.yml" "$@" ;;
  stop)
    for name in haproxy patroni1 patroni2; do end "$DIR/$name.pid" TERM; done
    sleep 2
    for file in "$DIR"/patroni?.pid; do end "$file" KILL; done
    for file in "$DIR"/pg?/postmaster.pid; do end "$file" INT; done
    sleep 1
    end "$DIR/etcd.pid" KILL
    rm -rf "$DIR"
    ;;
esac
