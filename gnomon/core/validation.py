"""Strict: the base of everything that is read from a spec."""

from pydantic import BaseModel, ConfigDict


class StrictModel(BaseModel):
    """Unknown names are refused, numbers are finite, nothing changes once it is read."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
