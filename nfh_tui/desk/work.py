"""Starting work beside the screen."""

from collections.abc import Callable, Coroutine

from textual.dom import DOMNode

from nfh_tui.desk.faults import note_fault, sentence_of
from nfh_tui.messages import Trouble


def start(
    node: DOMNode,
    work: Callable[[], Coroutine[object, object, None]],
    *,
    group: str,
    description: str,
    exclusive: bool = False,
) -> None:
    """Run a coroutine function as a worker of `node`; errors go to the one handler.

    That is a `Trouble` posted to the node: the screen shows it, and nothing else stops.
    The function is called when the worker begins: a coroutine made before that would never
    be awaited where a newer worker of an exclusive group comes first.
    """

    async def told() -> None:
        try:
            await work()
        except Exception as error:  # noqa: BLE001  # whatever it is, it must be told
            # Who leaves meanwhile closes the store under the reads that were under way.
            if node.is_running and node.app.is_running:
                note_fault(error)
                node.post_message(Trouble(f"{description}: {sentence_of(error)}"))

    run: Callable[[], Coroutine[object, object, None]] = told
    node.run_worker(
        run,
        group=group,
        description=description,
        exclusive=exclusive,
        exit_on_error=False,
    )
