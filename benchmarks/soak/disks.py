"""Disks to try things on: a small one in memory, and one whose mood can be changed."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Self


class NotPermittedError(Exception):
    """This process may not mount anything, or the system cannot."""


class Mounted:
    """A mounted folder, unmounted at the end."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def close(self) -> None:
        """Unmount it, whoever still uses it."""
        subprocess.run(["umount", "--lazy", str(self.folder)], capture_output=True, check=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


class SmallDisk(Mounted):
    """A file system in memory of a given size, such as "2m". Raises NotPermittedError."""

    def __init__(self, folder: Path, size: str) -> None:
        super().__init__(folder)
        if os.geteuid() != 0 or shutil.which("mount") is None:
            raise NotPermittedError("only root may mount a file system")
        folder.mkdir(parents=True, exist_ok=True)
        command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise NotPermittedError(done.stderr.strip())

    def set_read_only(self) -> None:
        """Let nothing be written on it, which no file that is open for writing may stop."""
        subprocess.run(["mount", "-o", "remount,ro", str(self.folder)], check=True)

    def fill(self) -> Path:
        """Leave no room at all; the file that takes it."""
        filler = self.folder / "filler"
        with filler.open("wb", buffering=0) as file:
            try:
                while True:
                    file.write(b"x" * 4096)
            except OSError:
                return filler


class MoodyDisk(Mounted):
    """A file system whose mood can be changed. Raises NotPermittedError.

    server: the program that it is, `soak.moody` or `soak.forgetful`.
    """

    def __init__(self, folder: Path, server: str = "soak.moody") -> None:
        super().__init__(folder / "mounted")
        if sys.platform != "linux" or os.geteuid() != 0 or not Path("/dev/fuse").exists():
            raise NotPermittedError("only root on Linux may mount a file system of its own")
        behind = folder / "behind"
        for place in (behind, self.folder):
            place.mkdir(parents=True, exist_ok=True)
        self._server = subprocess.Popen(
            [sys.executable, "-m", server, str(behind.absolute()), str(self.folder.absolute())],
            cwd=Path(__file__).parents[1],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self._server.stdout is not None and self._server.stderr is not None
        if self._server.stdout.readline() != "ok\n":
            raise NotPermittedError(self._server.stderr.read().strip().rpartition("\n")[2])

    def mood(self, mood: str) -> None:
        """Change it; from the next request on."""
        assert self._server.stdin is not None and self._server.stdout is not None
        self._server.stdin.write(f"{mood}\n")
        self._server.stdin.flush()
        if self._server.stdout.readline() != "ok\n":
            raise AssertionError(f"the file system ended before it could be {mood}")

    def close(self) -> None:
        """Unmount it and end its server."""
        for pipe in (self._server.stdin, self._server.stdout, self._server.stderr):
            assert pipe is not None
            pipe.close()
        super().close()
        self._server.wait(10)


class FailingDisk(Mounted):
    """An ext4 in a file, which the kernel sets read-only where an error is found on it.

    Raises NotPermittedError.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(folder / "ext4")
        if os.geteuid() != 0 or shutil.which("mkfs.ext4") is None:
            raise NotPermittedError(
                "only root may mount a file system, and mkfs.ext4 is needed"
            )
        self._image = folder / "ext4.img"
        self.folder.mkdir(parents=True, exist_ok=True)
        self._image.touch()
        os.truncate(self._image, 16 << 20)
        self._run("mkfs.ext4", "-q", str(self._image))
        self.mount()
        if not self._trigger().exists():
            self.close()
            raise NotPermittedError("this kernel has no switch for an error of ext4")

    def mount(self) -> None:
        """Mount it, as after a restart of the machine."""
        self._run("mount", "-o", "loop,errors=remount-ro", str(self._image), str(self.folder))

    def fail(self) -> None:
        """Let the kernel find an error: from now on the disk is read-only."""
        self._trigger().write_text("an error of the soak's\n")

    def _trigger(self) -> Path:
        found = subprocess.run(
            ["findmnt", "-no", "SOURCE", str(self.folder)],
            capture_output=True,
            text=True,
            check=False,
        )
        return Path("/sys/fs/ext4") / Path(found.stdout.strip()).name / "trigger_fs_error"

    @staticmethod
    def _run(*command: str) -> None:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise NotPermittedError(done.stderr.strip())
