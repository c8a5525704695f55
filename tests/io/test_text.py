import gzip
import lzma

import pytest

from assent.io import FormatError
from assent.io.text import TokenReader, read_text, write_text


@pytest.mark.parametrize("suffix", ["", ".gz", ".xz"])
def test_text_survives_compression(tmp_path, suffix):
    path = tmp_path / f"file{suffix}"
    write_text(path, "ρ 1\n2\n")
    assert read_text(path) == "ρ 1\n2\n"


@pytest.mark.parametrize("suffix", ["", ".gz", ".xz"])
def test_what_cannot_be_written_leaves_the_file_as_it_was(tmp_path, suffix):
    path = tmp_path / f"file{suffix}"
    write_text(path, "before")
    with pytest.raises(UnicodeEncodeError):
        write_text(path, "\ud800")
    assert read_text(path) == "before"


def test_content_decides_how_a_file_is_read(tmp_path):
    path = tmp_path / "file.uai"
    path.write_bytes(gzip.compress(b"hello"))
    assert read_text(path) == "hello"


@pytest.mark.parametrize("compress", [gzip.compress, lzma.compress])
def test_damaged_compression_is_named(tmp_path, compress):
    complete = compress(b"some text that is long enough to be cut " * 20)
    path = tmp_path / "file"
    for length in range(7, len(complete)):
        path.write_bytes(complete[:length])
        with pytest.raises(FormatError, match="the compressed file is damaged"):
            read_text(path)


def test_wrong_encoding_names_the_line(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"one\ntwo \xff\n")
    with pytest.raises(FormatError, match="line 2: expected text in UTF-8, found the byte 0xff"):
        read_text(path)


def test_errors_name_line_and_token():
    reader = TokenReader("file", "1 2\n\n  x\n")
    assert reader.integer("a count", low=0) == 1
    assert reader.integer("a count", low=0) == 2
    with pytest.raises(FormatError) as caught:
        reader.integer("a count", low=0)
    assert str(caught.value) == "file, line 3: expected a count, found 'x'"
    assert (caught.value.line, caught.value.token) == (3, "x")
    with pytest.raises(FormatError, match="line 3: expected more, found the end of the file"):
        reader.word("more")


def test_long_tokens_are_abridged():
    reader = TokenReader("file", "9" * 5000)  # more digits than Python converts
    with pytest.raises(FormatError, match=r"found '9{37}\.\.\.'"):
        reader.integer("a count", low=0)


def test_leftovers_are_an_error():
    with pytest.raises(FormatError, match="expected the end of the file, found 'more'"):
        TokenReader("file", "more").finish()
