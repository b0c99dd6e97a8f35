"""Starting work beside the screen."""

from collections.abc import Callable, Coroutine

from textual.dom import DOMNode


def start(
    node: DOMNode,
    work: Callable[[], Coroutine[object, object, None]],
    *,
    group: str,
    description: str,
    exclusive: bool = False,
) -> None:
    """Run a coroutine function as a worker of `node`; errors go to the one handler.

    The function is called when the worker begins: a coroutine made before that would never
    be awaited where a newer worker of an exclusive group comes first.
    """
    node.run_worker(
        work,
        group=group,
        description=description,
        exclusive=exclusive,
        exit_on_error=False,
    )
