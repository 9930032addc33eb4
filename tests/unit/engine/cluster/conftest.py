"""Partitions and a place for reports, and real clusters, started once for all tests that need them."""

import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

from unit.engine.cluster._toy_engine import people

ROOT = pathlib.Path(__file__).resolve().parents[4]
SCRIPT = ROOT / "tools" / "engines.sh"
SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # a Java that starts quickly


@pytest.fixture
def parts():
    """Return two thousand people in four partitions, one of them empty."""
    return [people(700), people(300, start=700), people(0), people(1_000, start=1_000)]


@pytest.fixture
def out(tmp_path):
    return tmp_path / "reports.parquet"


def _start(kind, folder):
    environment = {
        **os.environ,
        "PYTHON": sys.executable,
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]),
    }
    done = subprocess.run(
        ["bash", SCRIPT, "start", kind, folder], env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        subprocess.run(["bash", SCRIPT, "stop", folder], check=False)
        pytest.fail(f"the {kind} cluster did not start: {done.stderr}")
    return done.stdout.strip()


def _stop(folder):
    subprocess.run(["bash", SCRIPT, "stop", folder], check=True)


@pytest.fixture(scope="session")
def spark_cluster(tmp_path_factory):
    """Start a Spark master and two workers; yield their folder, with the address in a file."""
    if importlib.util.find_spec("pyspark") is None:
        pytest.skip("pyspark is not installed: pip install 'evenhand[spark]'")
    if shutil.which("java") is None:
        pytest.skip("Java is not installed: apt-get install default-jre-headless")
    folder = tmp_path_factory.mktemp("spark-cluster")
    _start("spark", folder)
    yield folder
    _stop(folder)


@pytest.fixture(scope="session")
def event_log(tmp_path_factory):
    return tmp_path_factory.mktemp("events")


@pytest.fixture(scope="session")
def spark(spark_cluster, event_log):
    """Yield a session with both workers, which writes its event log."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["SPARK_LAUNCHER_OPTS"] = SHORT_LIVED
    session = (
        SparkSession.builder.master((spark_cluster / "address").read_text().strip())
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.memory", "512m")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.extraJavaOptions", SHORT_LIVED)
        .config("spark.executor.extraJavaOptions", SHORT_LIVED)
        .config("spark.executor.memory", "512m")
        .config("spark.executor.cores", "1")
        .config("spark.cores.max", "2")
        .config("spark.eventLog.enabled", "true")
        .config("spark.eventLog.dir", event_log.as_uri())
        .config("spark.eventLog.compress", "false")
        .config("spark.speculation", "true")
        .config("spark.task.maxFailures", "2")  # each failure costs a Python that imports everything again
        .config("spark.python.unix.domain.socket.enabled", "true")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture(scope="session")
def dask_cluster(tmp_path_factory):
    """Start a Dask scheduler and two worker processes; yield their folder, with the address in a file."""
    if importlib.util.find_spec("distributed") is None:
        pytest.skip("dask is not installed: pip install 'evenhand[dask]'")
    folder = tmp_path_factory.mktemp("dask-cluster")
    _start("dask", folder)
    yield folder
    _stop(folder)


@pytest.fixture(scope="session")
def dask_client(dask_cluster):
    """Yield a client of both workers."""
    from distributed import Client

    with Client((dask_cluster / "address").read_text().strip()) as client:
        client.wait_for_workers(2)
        yield client
