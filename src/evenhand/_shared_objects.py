"""Objects that processes share: what is large in them is in private files, which every process maps."""

from __future__ import annotations

import io
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import cloudpickle
import numpy as np

from evenhand._shared_folders import SharedFolder, shared_places
from evenhand.errors import StudyStoreError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from pickle import PickleBuffer

    from numpy.typing import NDArray


class SharedObject:
    """An object as a message to worker processes, with its arrays in files that only this person may read.

    What a notebook defined goes with the message. The files are in the memory where there is room, else in
    the folder for temporary files. They are removed when this is closed. If this process is killed, any later
    command or study removes them, see :func:`evenhand._shared_folders.remove_left_folders`.

    Raises
    ------
    StudyStoreError
        If the files cannot be written. An object that cannot be pickled raises what it raises.
    """

    def __init__(self, given: object) -> None:
        buffers: list[PickleBuffer] = []
        cloudpickle.dumps(given, protocol=5, buffer_callback=buffers.append)
        with suppress(OSError):
            for place in shared_places(sum(buffer.raw().nbytes for buffer in buffers)):
                with suppress(OSError):
                    self._write(given, place)
                    return
        raise StudyStoreError(
            "The rows cannot be shared with worker processes: the folder for temporary files is full or "
            "may not be written. Hint: make room there, name another one in TMPDIR, or use workers=1."
        )

    def _write(self, given: object, place: Path) -> None:
        self.folder, self._files = SharedFolder(place), 0
        message = io.BytesIO()
        try:
            _ArrayPickler(message, self._write_array).dump(given)
        except BaseException:
            self.close()
            raise
        self.message = message.getvalue()

    def _write_array(self, array: NDArray[Any]) -> Any:
        """Write an array to a file, and return how a process comes by it."""
        if array.dtype.hasobject or not array.size:
            return array.__reduce__()
        self._files += 1
        name = f"{self._files}.npy"
        with self.folder.create(name) as file:
            np.save(file, array, allow_pickle=False)
        return map_array, (str(self.folder.path / name),)

    def close(self) -> None:
        """Remove the files."""
        self.folder.close()


class _ArrayPickler(cloudpickle.Pickler):  # type: ignore[misc]  # it has no types
    """Pickle arrays as a function says, and all else as always."""

    def __init__(self, file: Any, reduce_array: Callable[[NDArray[Any]], Any]) -> None:
        super().__init__(file)
        self._reduce_array = reduce_array

    def reducer_override(self, given: Any) -> Any:
        """Return how something is pickled."""
        return self._reduce_array(given) if type(given) is np.ndarray else super().reducer_override(given)


def map_array(path: str) -> NDArray[Any]:
    """Return the array in a file, mapped, which nobody can write into."""
    return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))
