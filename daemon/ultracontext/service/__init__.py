"""The daemon as a login service of one user: systemd, launchd, or an entry of the desktop."""

from ultracontext.service.baked import Program, program_of
from ultracontext.service.choice import Service, chosen_service

__all__ = ["Program", "Service", "chosen_service", "program_of"]
