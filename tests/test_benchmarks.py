"""The benchmark harness on a job whose contenders are known: they sleep, allocate, fail, hang or do not exist."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from benchmarks import JOBS, growth, limits
from benchmarks.__main__ import main
from benchmarks.harness import Outcome, best_settings, better, disagreements, run_job
from benchmarks.job import load_job
from benchmarks.measure import first_missing
from benchmarks.paste import paste
from benchmarks.table import as_markdown, as_text, rows

FAKE = """
import os, subprocess, sys, time
from benchmarks.job import Contender, Job, Setting

def slow(data, wait=0.0):
    print("contenders may print")
    time.sleep(wait)
    return data

def big(data):
    bytearray(b"x") * 100_000_000
    return data

def crowd(data):
    # Alive while it is measured: it prints once the memory is its own, and ends with the process that started it.
    code = "import sys; big = bytearray(b'x') * 100_000_000; print(flush=True); sys.stdin.read()"
    child = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    child.stdout.readline()
    children.append(child)
    return data

children = []

def wrong(data):
    return data + 1

def broken(data):
    raise RuntimeError("no such luck")

def hanging(data):
    if data > 1:
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        with open(os.environ["PID_FILE"], "w") as file:
            file.write(str(child.pid))
        time.sleep(60)
    return data

def threads(data):
    return int(os.environ.get("OPENBLAS_NUM_THREADS", 0))

JOB = Job(
    module="fake.job",
    title="A fake job",
    data=lambda size: size,
    contenders={
        "slow": Contender(slow, settings=(Setting("long", options={"wait": 0.5}), Setting("short"))),
        "big": Contender(big),
        "crowd": Contender(crowd),
        "wrong": Contender(wrong),
        "broken": Contender(broken),
        "hanging": Contender(hanging),
        "missing": Contender(slow, requires=("json", "no_such_package.sub")),
        "prepared": Contender(wrong, prepare=lambda data: 10 * data, largest=3),
        "threads": Contender(threads, settings=(Setting("three", threads=3), Setting("free"))),
    },
    answers=lambda result, data: {"value": result, "input": data},
    sizes=(2, 5),
    warm_size=1,
)
"""


@pytest.fixture
def job(tmp_path, monkeypatch):
    """The fake job, importable here and, through this process's import path, in the children."""
    (tmp_path / "fake").mkdir()
    (tmp_path / "fake" / "__init__.py").touch()
    (tmp_path / "fake" / "job.py").write_text(FAKE)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PID_FILE", str(tmp_path / "pid"))
    yield load_job("fake.job")
    sys.modules.pop("fake.job", None)
    sys.modules.pop("fake", None)


def test_time_and_answers_are_those_of_the_timed_run(job):
    long, short = run_job(job, sizes=[5], contenders=["slow"], repeats=1)

    assert long.seconds >= 0.5
    assert short.seconds > 0
    assert long.answers == short.answers == {"value": 5, "input": 5}


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="peaks can be reset on Linux only")
def test_memory_is_that_of_the_timed_run_and_of_its_workers(job):
    """100 MB stand out of what Python itself takes, though the warm-up run took as much and this process has more."""
    here = bytearray(b"x") * 300_000_000
    long, short, big, crowd = run_job(job, sizes=[5], contenders=["slow", "big", "crowd"], repeats=1)
    del here

    assert max(long.memory, short.memory) < 50e6
    assert 90e6 < big.memory < 150e6
    assert 90e6 < crowd.memory < 150e6
    assert big.memory < big.absolute < 250e6
    assert crowd.absolute > 200e6  # the worker of the warm-up run lives on


def test_the_best_setting_counts_and_ratios_are_with_the_first_contender(job):
    outcomes = run_job(job, sizes=[2], contenders=["slow", "big"], repeats=1)
    heading, slow, big = rows(job, outcomes)

    assert heading == [
        "n",
        "contender",
        "setting",
        "time",
        "ratio",
        "peak memory",
        "with data",
        "value",
        "input",
        "agrees",
    ]
    assert slow[:3] == ["2", "slow", "short"] and slow[4] == "1.00" and slow[-1] == "yes"
    assert float(big[4]) == pytest.approx(outcomes[2].seconds / outcomes[1].seconds, abs=0.01)
    assert [row[2] for row in rows(job, outcomes, all_settings=True)[1:]] == ["long", "short", "default"]


def test_a_different_answer_is_named(job):
    outcomes = run_job(job, sizes=[2], contenders=["big", "wrong"], repeats=1)

    assert [row[-1] for row in rows(job, outcomes)] == ["agrees", "yes", "NO: value"]


def test_what_is_missing_or_fails_is_said_and_not_repeated(job):
    seen = []
    missing, broken = sorted(
        run_job(job, sizes=[2], contenders=["broken", "missing"], repeats=3, progress=seen.append),
        key=lambda outcome: outcome.contender,
        reverse=True,
    )

    assert (missing.status, missing.detail) == ("not installed", "no_such_package")
    assert (broken.status, broken.detail) == ("failed", "RuntimeError: no such luck")
    assert len(seen) == 2
    assert [row[3] for row in rows(job, [missing, broken])] == ["time", "not installed", "failed"]


def test_repeats_go_round_all_configurations(job):
    seen = []
    run_job(job, sizes=[2], contenders=["big", "wrong"], repeats=2, progress=seen.append)

    assert [line.split()[1] for line in seen] == ["big", "wrong", "big", "wrong"]


def test_the_best_of_all_repeats_is_kept(job, monkeypatch):
    times = iter([2.0, 1.0, 3.0])
    monkeypatch.setattr("benchmarks.harness.run_once", lambda *_: outcome("big", seconds=next(times)))

    assert run_job(job, sizes=[2], contenders=["big"], repeats=3) == [outcome("big", seconds=1.0)]


def test_a_timeout_kills_the_run_with_its_children_and_larger_sizes_are_left_out(job, tmp_path):
    """The limit is generous for the start of an interpreter, and far below the 60 s that the contender sleeps."""
    small, large = run_job(job, contenders=["hanging"], repeats=2, timeout=2)

    assert (small.status, large.status) == ("timeout", "not run")
    assert [row[3] for row in rows(job, [small, large])] == ["time", "> 2 s", "not run"]
    assert _ends(int((tmp_path / "pid").read_text()))


def _ends(pid):
    """Whether the process is gone, or waits only to be collected, within a few seconds."""
    for _ in range(100):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        stat = Path(f"/proc/{pid}/stat")
        if stat.exists() and stat.read_text().rpartition(")")[2].split()[0] == "Z":
            return True
        time.sleep(0.05)
    return False


def test_thread_limits_reach_the_child_before_it_starts_and_none_means_none(job, monkeypatch):
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "7")
    three, free = run_job(job, sizes=[2], contenders=["threads"], repeats=1)

    assert three.answers["value"] == 3
    assert free.answers["value"] == 0


def test_what_is_prepared_is_run_and_the_data_are_what_answers_see(job):
    (outcome,) = run_job(job, sizes=[2], contenders=["prepared"], repeats=1)

    assert outcome.answers == {"value": 21, "input": 2}


def test_a_contender_is_left_out_above_its_largest_size(job):
    seen = run_job(job, sizes=[3, 4], contenders=["big", "prepared"], repeats=1)

    assert [(one.contender, one.size) for one in seen] == [("big", 3), ("prepared", 3), ("big", 4)]


def test_long_runs_are_not_repeated(job, monkeypatch):
    monkeypatch.setattr("benchmarks.harness.run_once", lambda job, name, *_: outcome(name, seconds=len(name)))
    seen = []
    run_job(job, [2], ["big", "wrong"], repeats=3, progress=seen.append, repeat_under=4)

    assert [line.split()[1] for line in seen] == ["big", "wrong", "big", "big"]


def test_what_gives_no_answers_is_not_called_wrong(job):
    whole, part = rows(job, [outcome("big", x=1.0), outcome("wrong")])[1:]

    assert (whole[-1], part[-1]) == ("yes", "")


def test_slopes_are_exponents():
    runs = [outcome("big", seconds=3e-6 * n**2, size=n) for n in (10, 20, 50)] + [outcome("wrong", size=10)]
    found = growth.table(runs)

    assert found[0] == ["what", "n = 10", "n = 20", "n = 50", "slope"]
    assert [row[-1] for row in found[1:3]] == ["2.00", "nan"]


def test_limits_are_shared_out_of_what_was_measured():
    runs = [outcome("copy", bytes=4e9), outcome("product, float64", bytes=1e9, flop=3e9), outcome("exp", values=1e6)]
    found = {row[1]: row[2:] for row in limits.table(runs)}

    assert found["K read in products, float64"] == ["1 GB/s", "copy", "4 GB/s", "25 %"]
    assert found["products, float64"] == ["3 Gflop/s", "", "", ""]
    assert limits.both(2.0, 2.0) == 1.0


def test_tables_are_put_between_their_marks_again_and_again(tmp_path):
    (tmp_path / "a.md").write_text("| 1 |\n")
    page = "x\n<!-- table: a -->\nold\n<!-- end: a -->\n<!-- table: b -->\nkept\n<!-- end: b -->\ny"
    once, done = paste(page, tmp_path)

    assert done == ["a"]
    assert once == page.replace("\nold\n", "\n\n| 1 |\n\n")
    assert paste(once, tmp_path)[0] == once


def test_the_page_has_a_place_for_every_listed_job():
    page = (Path(__file__).parents[1] / "docs" / "benchmarks.md").read_text()

    assert all(f"<!-- table: {name} -->" in page and f"<!-- end: {name} -->" in page for name in JOBS)


def test_an_unknown_contender_is_named(job):
    with pytest.raises(ValueError, match=r"no contender 'fast' in the job 'job': choose from slow, big, crowd"):
        run_job(job, contenders=["fast"])


def outcome(contender="a", status="ok", seconds=1.0, size=2, **answers):
    return Outcome(contender, "default", size, status, seconds, answers=answers)


def test_the_faster_run_counts_unless_one_failed():
    fast, slow, failed = outcome(seconds=1.0), outcome(seconds=2.0), outcome(status="failed")

    assert better(fast, slow) is fast and better(slow, fast) is fast
    assert better(fast, failed) is failed
    assert best_settings([slow, fast, outcome("b", seconds=3.0), outcome(size=3)]) == [
        fast,
        outcome("b", seconds=3.0),
        outcome(size=3),
    ]


@pytest.mark.parametrize(("value", "differ"), [(1.0, []), (1.0 + 5e-7, []), (1.00001, ["x"]), (float("nan"), ["x"])])
def test_answers_agree_within_the_tolerance(value, differ):
    assert disagreements(outcome(x=value), outcome(x=1.0), tolerance=1e-6) == differ
    assert disagreements(outcome(), outcome(x=1.0), tolerance=1e-6) == ["x"]
    assert disagreements(outcome(x=value), outcome(x=1.0), tolerance=1e-6, own=("x",)) == []


def test_a_package_that_is_there_but_broken_is_not_called_missing(tmp_path, monkeypatch):
    (tmp_path / "half_there.py").write_text("import not_there_at_all")
    monkeypatch.syspath_prepend(str(tmp_path))

    assert first_missing(("json", "os.path")) is None
    assert first_missing(("json", "not_there_at_all.sub")) == "not_there_at_all"
    with pytest.raises(ModuleNotFoundError, match="not_there_at_all"):
        first_missing(("half_there",))


def test_the_command_prints_and_writes_the_table(job, tmp_path, capsys):
    folder = tmp_path / "results"
    main(["fake.job", "--quick", "--contenders", "big", "broken", "missing", "--output", str(folder)])

    printed = capsys.readouterr().out
    assert "cores" in printed and "BLAS" in printed and "numpy" in printed
    assert "A fake job" in printed and "not installed" in printed
    assert "broken (default), n = 2 failed: RuntimeError: no such luck" in printed
    assert "| 2 | big | default |" in (folder / "job.md").read_text()
    lines = (folder / "job.csv").read_text().splitlines()
    assert lines[0] == "contender,setting,size,status,seconds,memory,absolute,detail,answer: value,answer: input"
    assert [line.split(",")[3] for line in lines[1:]] == ["ok", "failed", "not installed"]


def test_text_is_aligned_and_markdown_has_a_rule():
    table = [["n", "contender", "setting", "time"], ["10", "a", "default", "1 s"], ["2", "longer name", "b", "100 s"]]

    assert as_text(table).splitlines() == [
        " n  contender    setting   time",
        "10  a            default    1 s",
        " 2  longer name  b        100 s",
    ]
    assert as_markdown(table).splitlines()[1] == "| ---: | --- | --- | ---: |"


@pytest.mark.parametrize("name", JOBS)
def test_every_listed_job_runs_its_own_contender(name):
    """The smallest run of the real jobs: ours only, so that no peer need be installed."""
    job = load_job(name)
    first = next(iter(job.contenders))
    done = run_job(job, sizes=[60], contenders=[first], repeats=1)

    assert [outcome.status for outcome in done] == ["ok"] * len(done), done
    assert job.name == name


def test_python_m_benchmarks_names_the_jobs():
    root = Path(__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--help"], cwd=root, capture_output=True, text=True, check=True
    )

    assert all(name in done.stdout for name in JOBS)
