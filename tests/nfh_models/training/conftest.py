"""One thread: two that wait for each other take long where others want the cores, too.

For whole modules: what a module trains once is compared with what its tests train, and two
threads add up in another order.
"""

import pytest
import torch


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
