#!/bin/bash
# Checks and plans every stack that a change touches and writes one Markdown report.
#
#   .github/plan-changed-stacks.sh BASE REPORT
#
# A stack is touched when its own file changed. Every stack is, when what all of them rest on changed: a base file, the
# project's defaults, the components. Exit code 1 when a stack has an error; the report says which, and is written either way.
set -euo pipefail

base=$1 report=$2
marker='<!-- aks-dra plan -->'
limit=60000 # GitHub refuses comments of more than 65,536 characters
aks_dra=${AKS_DRA:-$PWD/.venv/bin/aks-dra}
cd "$(git rev-parse --show-toplevel)"

# Three dots: what the branch changed since it left the base, not what the base has gained since.
changed=$(git diff --name-only --diff-filter=d "$base...HEAD")
before=$(git merge-base "$base" HEAD)
shopt -s nullglob
files=(stacks/Pulumi.*.yaml)
stacks=()
if grep -qE '^(components/|Pulumi\.yaml$|requirements\.txt$)' <<<"$changed" ||
    grep -E '^stacks/' <<<"$changed" | grep -qvE '^stacks/Pulumi\.[^/]+\.yaml$'; then
    stacks=("${files[@]}")
else
    for file in "${files[@]}"; do
        if grep -qxF "$file" <<<"$changed"; then stacks+=("$file"); fi
    done
fi

failed=0
{
    echo "$marker"
    if [ ${#stacks[@]} -eq 0 ]; then echo 'No stack is changed by this pull request.'; fi
    for file in "${stacks[@]}"; do
        name=${file#stacks/Pulumi.}
        printf '## Stack `%s`\n\n' "${name%.yaml}"
        if findings=$("$aks_dra" check "$file" --against "$before" 2>&1); then
            # A plan that fails where the check did not is a fault of ours: its own words are the report.
            "$aks_dra" plan --format markdown --against "$before" "$file" 2>&1 || { failed=1; }
        else
            failed=1
            printf 'This stack has errors; nothing of it would be created.\n\n```\n%s\n```\n' "$findings"
        fi
        echo
    done
} >"$report"

if [ "$(wc -c <"$report")" -gt "$limit" ]; then
    # Cut at a line, and by bytes: characters are never more.
    head -c "$limit" "$report" | sed '$d' >"$report.cut"
    # A fence that the cut left open would swallow what follows.
    if [ $(($(grep -c '^```' "$report.cut") % 2)) -eq 1 ]; then echo '```' >>"$report.cut"; fi
    printf '\n\nCut: the whole report is in the summary of the job.\n' >>"$report.cut"
    cat "$report" >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
    mv "$report.cut" "$report"
else
    cat "$report" >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
fi
exit "$failed"
