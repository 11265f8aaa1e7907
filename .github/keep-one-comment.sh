#!/bin/bash
# Writes a report as the pull request's one comment of this kind: changes the one that is there, or adds it.
#
#   GH_TOKEN=… REPOSITORY=owner/name NUMBER=7 .github/keep-one-comment.sh REPORT
#
# The report's first line is the hidden marker by which its comment is found again.
set -euo pipefail

report=$1
marker=$(head -n 1 "$report")
comments="repos/$REPOSITORY/issues/$NUMBER/comments"
# --paginate prints the ids of every page; only the first match counts, and a person's quote of the marker does not.
found=$(MARKER=$marker gh api --paginate "$comments" \
    --jq '.[] | select(.user.type == "Bot" and (.body | startswith(env.MARKER))) | .id')
id=${found%%$'\n'*}
if [ -n "$id" ]; then
    gh api --method PATCH "repos/$REPOSITORY/issues/comments/$id" --field "body=@$report" >/dev/null
else
    gh api --method POST "$comments" --field "body=@$report" >/dev/null
fi
