#!/usr/bin/env bash
# Start and stop small clusters on this machine, for tests and trials.
#
#   tools/engines.sh start spark FOLDER    a standalone master and two workers on loopback
#   tools/engines.sh start dask FOLDER     a scheduler and two worker processes on loopback
#   tools/engines.sh stop FOLDER           end what was started in FOLDER, by its process ids
#
# FOLDER gets logs, one file of a process id for each process (master.pid, worker-1.pid, worker-2.pid) and
# "address", which a session or client connects to. PYTHON says which Python has pyspark or dask; the tasks
# run with the same one.
set -euo pipefail

PYTHON="${PYTHON:-python3}"
WAIT_SECONDS="${WAIT_SECONDS:-90}"

fail() { echo "engines.sh: $*" >&2; exit 1; }

launch() {  # NAME COMMAND...: run it in the background and note its process id
  local name="$1"; shift
  "$@" >"$FOLDER/$name.log" 2>&1 </dev/null &
  echo $! >"$FOLDER/$name.pid"
}

await() {  # NAME PATTERN: wait until the log of a process says so
  local name="$1" pattern="$2" tries=$((WAIT_SECONDS * 5))
  until grep -qE "$pattern" "$FOLDER/$name.log" 2>/dev/null; do
    kill -0 "$(cat "$FOLDER/$name.pid")" 2>/dev/null || fail "$name ended; see $name.log"
    tries=$((tries - 1))
    [ "$tries" -gt 0 ] || fail "$name did not start within $WAIT_SECONDS seconds; see $name.log"
    sleep 0.2
  done
}

start_spark() {
  command -v java >/dev/null || fail "no Java; on Debian: apt-get install default-jre-headless"
  local home; home="$("$PYTHON" -c 'import pathlib, pyspark; print(pathlib.Path(pyspark.__file__).parent)')"
  export SPARK_HOME="$home" SPARK_LOCAL_IP=127.0.0.1 PYSPARK_PYTHON="$PYTHON" SPARK_NO_DAEMONIZE=1
  # short-lived: no second compiler, one thread that collects garbage
  export SPARK_LAUNCHER_OPTS="-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
  export SPARK_DAEMON_JAVA_OPTS="$SPARK_LAUNCHER_OPTS"
  export SPARK_DAEMON_MEMORY=256m SPARK_WORKER_DIR="$FOLDER/work" SPARK_LOCAL_DIRS="$FOLDER/local"
  launch master "$home/bin/spark-class" org.apache.spark.deploy.master.Master \
    --host 127.0.0.1 --port 0 --webui-port 0
  await master 'Starting Spark master at spark://'
  grep -oE 'spark://127.0.0.1:[0-9]+' "$FOLDER/master.log" | head -1 >"$FOLDER/address"
  for number in 1 2; do
    launch "worker-$number" "$home/bin/spark-class" org.apache.spark.deploy.worker.Worker \
      --host 127.0.0.1 --cores 1 --memory 1g --webui-port 0 "$(cat "$FOLDER/address")"
  done
  for number in 1 2; do await "worker-$number" 'Successfully registered with master'; done
}

start_dask() {
  launch master "$PYTHON" -m distributed.cli.dask_scheduler --host 127.0.0.1 --port 0 --no-dashboard --no-show
  await master 'Scheduler at: +tcp://'
  grep -oE 'tcp://127.0.0.1:[0-9]+' "$FOLDER/master.log" | head -1 >"$FOLDER/address"
  for number in 1 2; do
    launch "worker-$number" "$PYTHON" -m distributed.cli.dask_worker "$(cat "$FOLDER/address")" \
      --host 127.0.0.1 --nthreads 1 --no-nanny --no-dashboard --local-directory "$FOLDER/local-$number"
  done
  for number in 1 2; do await "worker-$number" 'Registered to:'; done
}

end_tree() {  # PID: end a process and those that it started
  local child
  for child in $(cat "/proc/$1/task/$1/children" 2>/dev/null); do end_tree "$child"; done
  kill -9 "$1" 2>/dev/null || true
}

stop() {
  local file
  for file in "$FOLDER"/*.pid; do
    [ -e "$file" ] || continue
    end_tree "$(cat "$file")"
    rm -f "$file"
  done
}

case "${1:-}" in
  start)
    [ $# -eq 3 ] || fail "usage: engines.sh start spark|dask FOLDER"
    mkdir -p "$3"; FOLDER="$(cd "$3" && pwd)"
    case "$2" in spark) start_spark ;; dask) start_dask ;; *) fail "there are: spark, dask" ;; esac
    cat "$FOLDER/address"
    ;;
  stop)
    [ $# -eq 2 ] || fail "usage: engines.sh stop FOLDER"
    FOLDER="$(cd "$2" && pwd)"; stop
    ;;
  *) sed -n '2,11s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
