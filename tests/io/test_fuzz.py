"""Truncated and corrupted files raise FormatError and nothing else, quickly."""

import gzip
import lzma
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assent.io import (
    FormatError,
    read_alist,
    read_evidence,
    read_fg,
    read_libdai,
    read_uai,
    read_wcnf,
    read_wcsp,
)
from assent.logic.rules_file import load_rules
from tests.io.test_fg import EXAMPLE as FG
from tests.io.test_other_formats import LIBDAI, LOGS, WCSP
from tests.io.test_uai import EXAMPLE as UAI
from tests.logic.test_rules_file import EXAMPLE as RULES

READERS = {
    "uai": (read_uai, UAI.encode()),
    "fg": (read_fg, FG.encode()),
    "libdai": (read_libdai, LIBDAI.encode()),
    "logs": (lambda path: read_uai(path, logs=True), LOGS.encode()),
    "wcsp": (read_wcsp, WCSP.encode()),
    "wcnf": (read_wcnf, b"c clauses\nh 1 -2 0\n3 -1 0\n2 2 3 0\n"),
    "old wcnf": (read_wcnf, b"p wcnf 3 2 9\n9 1 -2 0\n3 -1 3 0\n"),
    "alist": (read_alist, b"3 2\n2 2\n1 2 1\n2 2\n1 0\n1 2\n2 0\n1 2\n2 3\n"),
    "rules": (lambda path: load_rules(path, limit=1000), RULES.encode()),
    "evidence": (lambda path: read_evidence(path, [2, 2, 3]), b"1\n2 0 1 2 2\n"),
}
COMPRESSIONS = {"plain": bytes, "gzip": gzip.compress, "xz": lzma.compress}
NASTY = [b"-1", b"1e400", b"nan", b"999999999999", b"9" * 5000, b"1_0", b"\x00", b"\xff", b"PAIR"]


def read(path, reader, content):
    path.write_bytes(content)
    try:
        reader(path)
    except FormatError as error:
        assert str(path) in str(error)


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("name", READERS)
def test_truncated(tmp_path, name, compression):
    reader, content = READERS[name]
    complete = COMPRESSIONS[compression](content)
    for length in range(len(complete)):
        read(tmp_path / "file", reader, complete[:length])


@pytest.mark.parametrize("name", ["uai", "logs", "fg", "libdai", "wcsp", "old wcnf", "alist"])
def test_missing_tokens_are_noticed(tmp_path, name):
    reader, content = READERS[name]
    tokens = re.sub(b"#[^\n]*", b"", content).split()
    for length in range(len(tokens)):
        path = tmp_path / "file"
        path.write_bytes(b" ".join(tokens[:length]))
        with pytest.raises(FormatError, match="expected"):
            reader(path)


@pytest.mark.parametrize("name", READERS)
def test_replaced_tokens(tmp_path, name):
    reader, content = READERS[name]
    tokens = content.split()
    for position in range(len(tokens)):
        for nasty in NASTY:
            changed = [*tokens[:position], nasty, *tokens[position + 1 :]]
            read(tmp_path / "file", reader, b"\n".join(changed))


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("name", READERS)
@settings(
    max_examples=50,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_flipped_bytes(tmp_path, name, compression, data):
    reader, content = READERS[name]
    raw = bytearray(COMPRESSIONS[compression](content))
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    read(tmp_path / "file", reader, bytes(raw))


@settings(
    max_examples=200,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(content=st.binary(max_size=200))
def test_noise(tmp_path, content):
    for reader, _ in READERS.values():
        read(tmp_path / "file", reader, content)
