"""Parts of stacks that the tests of changes begin from."""

from __future__ import annotations

TRAIN = "aks-dra:pools: {train: {vmSize: Standard_NC24ads_A100_v4%s}, t4inf: {vmSize: Standard_NC4as_T4_v3}}"
T4 = "aks-dra:pools: {t4: {vmSize: Standard_NC4as_T4_v3%s}}"
A100 = "aks-dra:pools: {a100: {vmSize: Standard_NC24ads_A100_v4%s}}"
CLUSTER = 'aks-dra:cluster: {access: {azureRbac: true}, kubernetesVersion: "1.36"%s}\n'
