"""The requests of the wire, answered from a store."""

from ultracontext.store.exchange.call import Answer, Call, json_answer
from ultracontext.store.exchange.exchange import Exchange
from ultracontext.store.exchange.routes import ROUTES, Route
from ultracontext.store.exchange.sight import Sight

__all__ = ["ROUTES", "Answer", "Call", "Exchange", "Route", "Sight", "json_answer"]
