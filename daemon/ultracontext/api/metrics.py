"""Counters of a server, in the text form of Prometheus. They name routes, never ids or spaces."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from ultracontext import __version__

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class Metrics:
    """One registry a server, so that two of one process do not mix."""

    def __init__(self) -> None:
        registry = CollectorRegistry()
        self.registry = registry
        self.requests = Counter(
            "ultracontext_http_requests", "Requests answered.",
            ["method", "route", "status"], registry=registry,
        )  # fmt: skip
        self.seconds = Histogram(
            "ultracontext_http_request_seconds", "Time to the whole answer.", ["route"],
            buckets=BUCKETS, registry=registry,
        )  # fmt: skip
        self.in_flight = Gauge(
            "ultracontext_http_requests_in_flight", "Requests being answered.", registry=registry
        )
        self.messages = Counter(
            "ultracontext_messages_appended", "Messages stored by appends.", registry=registry
        )
        self.received = Counter(
            "ultracontext_http_received_bytes", "Bytes of bodies.", registry=registry
        )
        self.refused = Counter(
            "ultracontext_http_refused", "Requests refused before the store.", ["reason"],
            registry=registry,
        )  # fmt: skip
        build = Gauge("ultracontext_build_info", "Version.", ["version"], registry=registry)
        build.labels(__version__).set(1)

    def text(self) -> bytes:
        return generate_latest(self.registry)
