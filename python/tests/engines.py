"""Ray and Spark for tests: on the loopback address, with their files in a temporary folder, without the network."""

import contextlib
import os
import secrets
import shutil
import sys
import tempfile
import warnings

import pytest
from needs import require


@contextlib.contextmanager
def environment(**values):
    before = {name: os.environ.get(name) for name in values}
    os.environ |= values
    yield
    for name, value in before.items():
        if value is None:
            del os.environ[name]
        else:
            os.environ[name] = value


@contextlib.contextmanager
def folder():
    """Yield a temporary folder with a path that is short enough for sockets."""
    path = tempfile.mkdtemp(prefix="rpf")
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture(scope="session")
def ray():
    """Ray with two workers, a token of its own for its connections, and no statistics of use."""
    require("ray")
    settings = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_TOKEN": secrets.token_hex(16)}
    with environment(**settings), folder() as path, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of other packages
        import ray
        import ray.data

        ray.init(
            num_cpus=2,
            include_dashboard=False,
            object_store_memory=200 * 2**20,
            log_to_driver=False,
            _node_ip_address="127.0.0.1",
            _plasma_directory=path,
            _temp_dir=path,
        )
        ray.data.DataContext.get_current().enable_progress_bars = False
        yield ray
        ray.shutdown()


@pytest.fixture(scope="session")
def spark():
    """A Spark session with two threads."""
    require("pyspark")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs Java 17")
    settings = {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    with folder() as path, environment(**settings, SPARK_LOCAL_DIRS=path), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of other packages
        from pyspark.sql import SparkSession

        options = {
            "spark.ui.enabled": "false",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.sql.warehouse.dir": f"{path}/warehouse",
            "spark.sql.shuffle.partitions": "2",
            "spark.default.parallelism": "2",
            "spark.ui.showConsoleProgress": "false",
        }
        builder = SparkSession.builder.master("local[2]")
        for name, value in options.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("ERROR")
        yield session
        session.stop()
