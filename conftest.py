"""The option that every test run understands."""

import pytest


def pytest_addoption(parser):
    parser.addoption("--long", action="store_true", help="run the long versions of tests: more terms, larger graphs")


@pytest.fixture(scope="session")
def long(request):
    """Whether the long version of a test was asked for."""
    return request.config.getoption("--long")
