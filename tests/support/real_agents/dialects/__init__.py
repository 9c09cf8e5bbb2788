"""How the vendors' model APIs ask and answer."""
