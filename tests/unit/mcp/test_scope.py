"""Which sessions a client sees."""

from __future__ import annotations

from pathlib import Path

import pytest

from ultracontext.mcp.scope import Everything, Here, remote_name, scope_of


def repository(folder: Path, remote: str | None = None) -> Path:
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    text = f'[remote "origin"]\n\turl = {remote}\n' if remote else "[core]\n"
    (folder / ".git" / "config").write_text(text)
    return folder


def here(tmp_path: Path, *folders: Path) -> Here:
    return Here([str(one) for one in folders], str(tmp_path))


def test_a_repository_is_one_project(tmp_path: Path) -> None:
    app, other = repository(tmp_path / "app"), repository(tmp_path / "other")
    inner = repository(app / "vendored")
    (app / "src").mkdir()
    scope = here(tmp_path, app / "src")
    assert scope.allows(str(app))
    assert scope.allows(str(app / "gone" / "since"))
    assert not scope.allows(str(other))
    assert not scope.allows(str(inner))
    assert not scope.allows(str(tmp_path))
    assert not scope.allows(None)


@pytest.mark.parametrize(
    "other", ["git@host.org:o/r.git", "ssh://git@host.org:22/o/r", "https://u:p@HOST.org/o/r.git/"]
)
def test_clones_of_a_remote_are_one_project(tmp_path: Path, other: str) -> None:
    a = repository(tmp_path / "a", "https://host.org/o/r")
    b, c = repository(tmp_path / "b", other), repository(tmp_path / "c", "https://host.org/o/q")
    scope = here(tmp_path, a)
    assert scope.allows(str(b))
    assert not scope.allows(str(c))
    assert scope.allows(str(tmp_path / "gone"), other)
    assert not scope.allows(str(c), other), "what the folder says counts"


def test_a_work_tree_is_its_repository(tmp_path: Path) -> None:
    main, tree = repository(tmp_path / "main"), tmp_path / "tree"
    kept = main / ".git" / "worktrees" / "tree"
    kept.mkdir(parents=True)
    (kept / "commondir").write_text("../..\n")
    tree.mkdir()
    (tree / ".git").write_text(f"gitdir: {kept}\n")
    assert here(tmp_path, tree).allows(str(main))
    assert here(tmp_path, main).allows(str(tree))


def test_a_plain_folder_is_itself_and_what_is_below(tmp_path: Path) -> None:
    plain, twin = tmp_path / "plain", tmp_path / "plain2"
    plain.mkdir()
    inner = repository(plain / "repo")
    scope = here(tmp_path, plain)
    assert scope.allows(str(plain / "sub"))
    assert not scope.allows(str(twin))
    assert not scope.allows(str(inner))


def test_a_home_folder_opens_nothing_below_it(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()  # dot files under version control
    scope = here(tmp_path, tmp_path)
    assert scope.allows(str(tmp_path))
    assert not scope.allows(str(tmp_path / "app"))
    assert not here(tmp_path, Path("/")).allows("/srv/app")


def test_settings_open_other_projects(tmp_path: Path) -> None:
    assert isinstance(scope_of(("all",), [], "/h"), Everything)
    globs = scope_of(("~/work/*", "/srv/x"), ["/a"], "/h")
    assert globs.allows("/h/work/b")
    assert globs.allows("/srv/x/deep")
    assert not globs.allows("/srv/xy")
    assert not globs.allows("/a")
    assert scope_of(("current", "/srv/x"), ["/a"], "/h").allows("/a")


def test_remotes_are_named_alike() -> None:
    assert remote_name("git@github.com:o/r.git") == remote_name("https://github.com/o/r")
    assert remote_name("/srv/r.git") == remote_name("file:///srv/r")
