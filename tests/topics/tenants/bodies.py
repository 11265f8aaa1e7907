"""What the tests of tenants share."""

from __future__ import annotations

POOLS = "aks-dra:pools: {t4: {vmSize: Standard_NC4as_T4_v3}, h100: {vmSize: Standard_NC40ads_H100_v5}}\n"


FPGA = "aks-dra:deviceClasses: {fpga: {driver: fpga.example.com, cel: ['true']}}\n"
