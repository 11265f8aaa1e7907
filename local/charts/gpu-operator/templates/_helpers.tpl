{{/* Labels of every object of the chart. */}}
{{- define "operator.labels" -}}
app.kubernetes.io/name: {{ .Values.nameOverride | default .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/component: gpu-operator
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | quote }}
{{- with .Values.operator.labels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* One operand's section of the ClusterPolicy: its values, without what only the chart itself reads. */}}
{{- define "operator.operand" -}}
{{- $section := deepCopy . -}}
{{- if hasKey $section "config" -}}
{{- $_ := set $section "config" (omit ($section.config | default dict) "create" "data") -}}
{{- end -}}
{{ toYaml $section }}
{{- end }}

{{/* NFD's own chart names its objects by the release, unless the release is named after it. */}}
{{- define "operator.nfdName" -}}
{{- $nfd := index .Values "node-feature-discovery" | default dict -}}
{{- $name := $nfd.nameOverride | default "node-feature-discovery" -}}
{{- if $nfd.fullnameOverride -}}{{ $nfd.fullnameOverride }}
{{- else if contains $name .Release.Name -}}{{ .Release.Name }}
{{- else -}}{{ printf "%s-%s" .Release.Name $name | trunc 63 | trimSuffix "-" }}
{{- end -}}
{{- end }}

{{/* Of .Values.driver what both kinds of driver resource take; what frees GPUs before an upgrade has another name there. */}}
{{- define "operator.driver" -}}
{{- $driver := omit . "nvidiaDriverCRD" }}
{{- with .upgradePolicy }}
{{- $driver = set $driver "upgradePolicy" (set (omit . "gpuPodDeletion") "podDeletion" .gpuPodDeletion) }}
{{- end }}
{{- toYaml $driver }}
{{- end }}
