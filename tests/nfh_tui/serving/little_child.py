"""A child that speaks as Textual's web driver does, and starts in no time.

Its first argument says what it does: `echo` sends back what is typed and notes the size;
`crash` ends with a status; `mute` is no app; `hang` does not end when it is asked to; `file`
offers a file. Its second argument is a folder, where it leaves a note when it ends well.
"""

import json
import os
import sys
import time
from pathlib import Path

TEXT = "one line, and ünother\n"


def packet(kind: bytes, payload: bytes) -> None:
    os.write(1, kind + len(payload).to_bytes(4, "big") + payload)


def say(text: str) -> None:
    packet(b"D", text.encode())


def meta(**what: object) -> None:
    packet(b"M", json.dumps(what).encode())


def incoming():
    while True:
        kind = sys.stdin.buffer.read(1)
        if not kind:
            return
        size = int.from_bytes(sys.stdin.buffer.read(4), "big")
        yield kind, sys.stdin.buffer.read(size)


def chunk(key: str, text: str) -> None:
    # Textual's own encoding of the tuple ("deliver_chunk", key, text).
    from textual._binary_encode import dump

    packet(b"P", dump(("deliver_chunk", key, text)))


def main() -> None:
    behave, folder = sys.argv[1], Path(sys.argv[2])
    if behave == "mute":
        os.write(1, b"this is no app\n")
        sys.exit(3)
    os.write(1, b"__GANGLION__\n")
    say(f"hello {os.environ['COLUMNS']}x{os.environ['ROWS']}")
    if behave == "crash":
        sys.exit(3)
    if behave == "file":
        meta(
            type="deliver_file_start", key="k1", path="/etc/ä\r\nb.txt", open_method="browser",
            mime_type="text/html", encoding="utf-8", name=None,
        )  # fmt: skip
        meta(type="open_url", url="https://elsewhere.example", new_tab=True)
        meta(type="nfh_predict", anchors=[3, "x", 4])
    left = [TEXT, ""]
    for kind, payload in incoming():
        if kind == b"D":
            say(f"typed {payload.decode()}")
            if payload == b"q":
                break
            continue
        told = json.loads(payload)
        if told["type"] == "deliver_chunk_request":
            chunk(told["key"], left.pop(0))
        elif told["type"] != "quit":
            say(f"told {json.dumps(told)}")
        elif behave == "hang":
            (folder / "hangs").write_text("")
            time.sleep(60)
        else:
            break
    (folder / "ended well").write_text("")
    meta(type="exit")


if __name__ == "__main__":
    main()
