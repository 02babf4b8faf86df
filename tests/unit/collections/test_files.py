"""Folders, archives and files: what is cut off, damaged or not valid is refused by name."""

import gzip
import io
import lzma
import tarfile

import pytest

from calibrag.collections.files import decode, members, name_of, title_of
from calibrag.collections.reading import read_documents
from calibrag.errors import InputError


def pack(path, mode, **files):
    with tarfile.open(path, mode) as archive:
        for name, text in files.items():
            data = text.encode()
            entry = tarfile.TarInfo(name.replace("__", "/").replace("_dot_", "."))
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))


def names(path):
    return [member.name for member in members(str(path), (".txt",))]


@pytest.mark.parametrize("suffix", ["", ".gz", ".bz2", ".xz"])
def test_an_archive_is_read_in_its_order_and_other_files_passed_over(tmp_path, suffix):
    path = tmp_path / f"pages.tar{suffix}"
    pack(path, f"w:{suffix[1:]}", sub__b_dot_txt="B", a_dot_txt="A", c_dot_png="C", _dot_hidden_dot_txt="D")
    found = list(members(str(path), (".txt",)))
    assert [(member.name, member.data) for member in found] == [("sub/b.txt", b"B"), ("a.txt", b"A")]
    assert found[0].place == f"{path}: sub/b.txt"
    assert [(name_of(member), title_of(member)) for member in found] == [("sub/b", "b"), ("a", "a")]


@pytest.mark.parametrize("suffix", ["", ".gz", ".bz2", ".xz"])
def test_an_archive_that_is_cut_off_is_refused_with_its_last_member(tmp_path, suffix):
    path = tmp_path / f"pages.tar{suffix}"
    with tarfile.open(path, f"w:{suffix[1:]}") as archive:
        for number in range(40):
            entry = tarfile.TarInfo(f"{number}.txt")
            entry.size = 600
            # text that does not compress to nothing
            archive.addfile(entry, io.BytesIO(bytes((number * 7 + at * at) % 251 for at in range(600))))
    data = path.read_bytes()
    # a header's end is a member's end: a reader that is not strict would take it for the archive's
    for cut in (len(data) // 2, len(data) - len(data) // 4, 1536 * 3):
        if cut < len(data):
            path.write_bytes(data[:cut])
            with pytest.raises(InputError, match=r"pages\.tar.*: unreadable after .*: cut off or damaged"):
                names(path)


def test_a_damaged_header_is_refused(tmp_path):
    path = tmp_path / "pages.tar"
    pack(path, "w", a_dot_txt="A", b_dot_txt="B")
    data = bytearray(path.read_bytes())
    data[1024 + 150] ^= 0xFF  # the checksum of the second header
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"unreadable after a\.txt: cut off or damaged"):
        names(path)


def test_a_folder_is_read_by_name_and_compressed_files_too(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "b.txt").write_text("B")
    (tmp_path / "sub" / "AC%2FDC_(band).txt.gz").write_bytes(gzip.compress(b"A"))
    found = list(members(str(tmp_path), (".txt",)))
    assert [member.name for member in found] == ["b.txt", "sub/AC%2FDC_(band).txt.gz"]
    assert (name_of(found[1]), title_of(found[1])) == ("sub/AC/DC (band)", "DC (band)")
    (tmp_path / "b.txt.xz").write_bytes(lzma.compress(b"text" * 100)[:-8])
    with pytest.raises(InputError, match=r"b\.txt\.xz: unreadable: cut off or damaged"):
        names(tmp_path)


def test_what_holds_no_page_or_is_not_there_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"holds no file that ends in \.txt"):
        names(tmp_path)
    for name in ("absent.txt", "absent.tar.xz"):
        with pytest.raises(InputError, match="no such file; correct the path in config.yaml"):
            names(tmp_path / name)


def test_a_file_of_another_ending_is_refused(tmp_path):
    path = tmp_path / "documents.jsonl"
    path.write_text("{}")
    for form in ("mediawiki", "html", "markdown", "text"):
        with pytest.raises(InputError, match=r"documents\.jsonl: must end in \."):
            list(read_documents(form, path))


def test_bytes_that_are_not_valid_are_named_by_their_offset():
    with pytest.raises(InputError, match=r"p\.txt: not valid utf-8 at byte 3 \(0xff\)"):
        decode(b"abc\xff", "p.txt")
    assert decode(b"\xef\xbb\xbfabc", "p.txt") == "abc"


def test_a_source_without_documents_is_refused(tmp_path):
    (tmp_path / "a.txt").write_text("\n \n")
    with pytest.raises(InputError, match="holds no document"):
        list(read_documents("text", str(tmp_path)))
