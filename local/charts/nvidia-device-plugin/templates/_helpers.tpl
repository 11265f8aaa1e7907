{{- define "plugin.name" -}}
{{- .Values.nameOverride | default .Chart.Name | trunc 63 | trimSuffix "-" -}}
{{- end }}

{{- define "plugin.fullname" -}}
{{- $name := include "plugin.name" . -}}
{{- if .Values.fullnameOverride -}}{{ .Values.fullnameOverride | trunc 63 | trimSuffix "-" }}
{{- else if contains $name .Release.Name -}}{{ .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else -}}{{ printf "%s-%s" .Release.Name $name | trunc 63 | trimSuffix "-" }}
{{- end -}}
{{- end }}

{{- define "plugin.namespace" -}}
{{- .Values.namespaceOverride | default .Release.Namespace -}}
{{- end }}

{{- define "plugin.podLabels" -}}
app.kubernetes.io/name: {{ include "plugin.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- with .Values.selectorLabelsOverride }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "plugin.labels" -}}
{{ include "plugin.podLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | quote }}
{{- end }}

{{- define "plugin.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default (printf "v%s" .Chart.AppVersion) }}
{{- end }}

{{/* The ConfigMap with the plugin's configs: the user's own, or the one that this chart makes; else nothing. */}}
{{- define "plugin.configMap" -}}
{{- if .Values.config.name -}}{{ .Values.config.name }}
{{- else if .Values.config.map -}}{{ include "plugin.fullname" . }}-configs
{{- end -}}
{{- end }}

{{/* The environment that picks a node's config by its label. */}}
{{- define "plugin.configManager" -}}
- name: NODE_NAME
  valueFrom: {fieldRef: {fieldPath: spec.nodeName}}
- name: NODE_LABEL
  value: nvidia.com/device-plugin.config
- name: CONFIG_FILE_SRCDIR
  value: /available-configs
- name: CONFIG_FILE_DST
  value: /config/config.yaml
- name: DEFAULT_CONFIG
  value: {{ .Values.config.default | quote }}
- name: FALLBACK_STRATEGIES
  value: {{ join "," .Values.config.fallbackStrategies | quote }}
{{- end }}
