"""What the tests of claims share: pools, and all that is said of one claim."""

from __future__ import annotations

from pathlib import Path

from tests.stacks import check, cluster

POOLS = """
aks-dra:pools:
  h100: {vmSize: Standard_NC40ads_H100_v5, sharing: {mode: mig, layout: all-1g.12gb}}
  a100: {vmSize: Standard_NC48ads_A100_v4}
  t4: {vmSize: Standard_NC4as_T4_v3}
"""

HERE = "aks-dra:claims.ml.c"


def findings(tmp_path: Path, claim: str, version: str = "1.36", more: str = "") -> dict[tuple[str, str], str]:
    """(code, path) to "severity: message: remedy" of everything said of one claim `c` in namespace `ml`."""
    listed = check(tmp_path, f"{cluster(version)}{POOLS}{more}\naks-dra:claims: {{ml: {{c: {claim}}}}}")
    # What this version does to nvidia.com/gpu, and whether pods share, are other topics.
    return {
        (f.code, f.path): f"{f.severity}: {f.message}: {f.remedy}" for f in listed if f.code not in ("ALL006", "SHA014")
    }


LARGE = """
aks-dra:pools:
  nd: {vmSize: Standard_ND96asr_v4, sharing: {mode: mig, layout: all-1g.5gb}}
  nc: {vmSize: Standard_NC24ads_A100_v4, sharing: {mode: mig, layout: all-1g.10gb}}
"""

DYNAMIC = "aks-dra:pools: {h: {vmSize: Standard_NC80adis_H100_v5, sharing: {mode: dynamicMig}}}"
