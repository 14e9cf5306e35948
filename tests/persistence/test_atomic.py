"""A file is the old or the new, whole, and those who could not read the old cannot read the new."""

import os
import stat

import pytest

from halfseen.persistence.atomic import whole_file, write_whole

PERMISSIONS = pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_what_is_given_is_written(tmp_path):
    write_whole(tmp_path / "it", b"new", overwrite=False)
    assert (tmp_path / "it").read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["it"]


@PERMISSIONS
@pytest.mark.parametrize("permissions", [0o600, 0o640, 0o444, 0o666])
def test_a_file_that_is_replaced_keeps_its_permissions(permissions, tmp_path):
    path = tmp_path / "it"
    path.write_bytes(b"old")
    path.chmod(permissions)
    write_whole(path, b"new", overwrite=True)
    assert path.read_bytes() == b"new"
    assert mode(path) == permissions


@PERMISSIONS
def test_a_link_keeps_the_permissions_of_what_it_leads_to(tmp_path):
    (tmp_path / "it").write_bytes(b"old")
    (tmp_path / "it").chmod(0o600)
    (tmp_path / "link").symlink_to(tmp_path / "it")
    write_whole(tmp_path / "link", b"new", overwrite=True)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "it").read_bytes() == b"new"
    assert mode(tmp_path / "it") == 0o600


@PERMISSIONS
def test_nobody_reads_while_it_is_written_who_could_not_read_before(tmp_path):
    (tmp_path / "it").write_bytes(b"old")
    (tmp_path / "it").chmod(0o600)
    with whole_file(tmp_path / "it", overwrite=True):
        (temporary,) = tmp_path.glob(".halfseen-*.tmp")
        assert mode(temporary) == 0o600


def test_the_old_file_is_there_until_the_new_one_is_whole(tmp_path):
    (tmp_path / "it").write_bytes(b"old")
    with whole_file(tmp_path / "it", overwrite=True) as file:
        file.write(b"new")
        file.flush()
        assert (tmp_path / "it").read_bytes() == b"old"
    assert (tmp_path / "it").read_bytes() == b"new"


def test_an_error_on_the_way_leaves_the_old_file_and_nothing_else(tmp_path):
    (tmp_path / "it").write_bytes(b"old")
    with pytest.raises(ZeroDivisionError), whole_file(tmp_path / "it", overwrite=True) as file:
        file.writelines(bytes([1 // number]) for number in (1, 0))
    assert (tmp_path / "it").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["it"]
