#!/bin/sh
# Writes what a subscription offers in one region into a folder, for `aks-dra check --azure-snapshot FOLDER`.
# usage: collect-azure-snapshot.sh REGION FOLDER   (the Azure CLI must be logged in; it reads only)
# A file is written only when all of it is there: what fails leaves nothing behind, and an older file as it was.
set -eu
region=${1:?usage: collect-azure-snapshot.sh REGION FOLDER}
folder=${2:?usage: collect-azure-snapshot.sh REGION FOLDER}

command -v az >/dev/null 2>&1 || { echo "az is not on PATH: install the Azure CLI" >&2; exit 1; }
az account show --output none 2>/dev/null || { echo "the Azure CLI is not logged in: run \`az login\` first" >&2; exit 1; }

partial=$(mktemp -d)
trap 'rm -rf "$partial"' EXIT
trap 'exit 1' HUP INT TERM

az vm list-skus --location "$region" --resource-type virtualMachines --output json >"$partial/skus.json"
az vm list-usage --location "$region" --output json >"$partial/usage.json"
az aks get-versions --location "$region" --output json >"$partial/versions.json"
mkdir -p "$folder"
for name in skus usage versions; do
    # Beside its place first: within one folder a file is moved whole or not at all.
    cp "$partial/$name.json" "$folder/.$name.json.partial" && mv -f "$folder/.$name.json.partial" "$folder/$name.json" ||
        { rm -f "$folder/.$name.json.partial"; exit 1; }
done
