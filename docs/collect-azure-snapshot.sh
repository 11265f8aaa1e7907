#!/bin/sh
# Writes what a subscription offers in one region into a folder, for `aks-dra check --azure-snapshot FOLDER`.
# usage: collect-azure-snapshot.sh REGION FOLDER   (the Azure CLI must be logged in; it reads only)
set -eu
region=${1:?usage: collect-azure-snapshot.sh REGION FOLDER}
folder=${2:?usage: collect-azure-snapshot.sh REGION FOLDER}
mkdir -p "$folder"
az vm list-skus --location "$region" --resource-type virtualMachines --output json >"$folder/skus.json"
az vm list-usage --location "$region" --output json >"$folder/usage.json"
az aks get-versions --location "$region" --output json >"$folder/versions.json"
