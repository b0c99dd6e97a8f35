"""The store as the screen sees it: nothing blocks, writes keep their order."""

import asyncio
import threading
import time

import pytest

from nfh_db.errors import StoreError
from nfh_db.query import parse
from nfh_db.records import Role
from nfh_db.store import Store
from nfh_tui.client import StoreClient


@pytest.fixture
def client(database):
    made = StoreClient(Store.open(database))
    yield made
    made.close()


async def test_ids_come_in_chunks_and_leaving_early_is_allowed(client, monkeypatch):
    me = await client.write(client.store.people.ensure, "edith")
    whole = [
        anchor_id
        async for chunk in client.stream(client.store.queue.ids, parse(""), me)
        for anchor_id in chunk
    ]
    assert len(whole) == 6
    made = []

    def chunks(query, who):
        for start in range(0, 100, 2):
            made.append(start)
            time.sleep(0.005)
            yield [start, start + 1]

    monkeypatch.setattr(client.store.queue, "ids", chunks)
    reading = client.stream(client.store.queue.ids, parse(""), me)
    assert await anext(reading) == [0, 1]
    await reading.aclose()
    await asyncio.sleep(0.05)
    assert len(made) < 20


async def test_an_error_while_reading_ids_reaches_who_reads(client, monkeypatch):
    me = await client.write(client.store.people.ensure, "edith")

    def broken(query, who):
        yield [1]
        raise StoreError("The file is gone.")

    monkeypatch.setattr(client.store.queue, "ids", broken)
    with pytest.raises(StoreError, match="gone"):
        async for _ in client.stream(client.store.queue.ids, parse(""), me):
            pass


async def test_writes_happen_in_the_order_they_were_asked_for(client, monkeypatch):
    me = await client.write(client.store.people.ensure, "edith")
    gate, written = threading.Event(), []

    def save(anchor_id, who, role, body):
        if body == "first":
            gate.wait(5)
        written.append(body)

    monkeypatch.setattr(client.store.workspace, "save_draft", save)
    tasks = [
        asyncio.ensure_future(
            client.write(client.store.workspace.save_draft, 1, me, Role.ANNOTATOR, body)
        )
        for body in ("first", "second", None)
    ]
    await asyncio.sleep(0.05)
    assert client.writing == 3
    assert await asyncio.wait_for(client.read(client.store.queue.count, parse(""), me), 2) == 6
    gate.set()
    await client.settled()
    await asyncio.gather(*tasks)
    assert written == ["first", "second", None]
    assert client.writing == 0


async def test_a_write_goes_on_when_who_asked_for_it_is_gone(client, monkeypatch):
    me = await client.write(client.store.people.ensure, "edith")
    written = []

    def save(*args):
        time.sleep(0.1)
        written.append(args)

    monkeypatch.setattr(client.store.workspace, "save_draft", save)
    task = asyncio.ensure_future(
        client.write(client.store.workspace.save_draft, 1, me, Role.ANNOTATOR, "x")
    )
    await asyncio.sleep(0.02)
    task.cancel()
    await client.settled()
    assert len(written) == 1


async def test_others_writes_are_told_from_ones_own(client, database):
    me = await client.write(client.store.people.ensure, "edith")
    assert not await client.others_wrote()
    await client.write(client.store.workspace.save_draft, 1, me, Role.ANNOTATOR, "x")
    await client.write(client.store.workspace.save_view, me, "mine", "state:open")
    assert not await client.others_wrote()
    with Store.open(database) as other:
        other.workspace.save_view(me, "theirs", "state:open")
    await client.write(client.store.workspace.save_view, me, "mine", None)
    assert await client.others_wrote()
    assert not await client.others_wrote()


async def test_ones_own_write_is_no_others_however_long_it_takes(client, monkeypatch):
    me = await client.write(client.store.people.ensure, "edith")
    save = client.store.workspace.save_draft

    def slowly(*args):
        time.sleep(0.05)
        save(*args)

    monkeypatch.setattr(client.store.workspace, "save_draft", slowly)
    await client.write(client.store.workspace.save_draft, 1, me, Role.ANNOTATOR, "x")
    assert not await client.others_wrote()


async def test_what_others_wrote_during_ones_own_write_is_told_after_it(client, database):
    me = await client.write(client.store.people.ensure, "edith")
    assert not await client.others_wrote()
    with client.store.connections.fast_write():
        assert not await client.others_wrote()
    with Store.open(database) as other:
        other.workspace.save_view(me, "theirs", "state:open")
    assert await client.others_wrote()
