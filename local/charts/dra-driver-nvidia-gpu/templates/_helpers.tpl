{{- define "dra.name" -}}
{{- .Values.nameOverride | default .Chart.Name | trunc 63 | trimSuffix "-" -}}
{{- end }}

{{- define "dra.fullname" -}}
{{- $name := include "dra.name" . -}}
{{- if .Values.fullnameOverride -}}{{ .Values.fullnameOverride | trunc 63 | trimSuffix "-" }}
{{- else if contains $name .Release.Name -}}{{ .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else -}}{{ printf "%s-%s" .Release.Name $name | trunc 63 | trimSuffix "-" }}
{{- end -}}
{{- end }}

{{- define "dra.namespace" -}}
{{- .Values.namespaceOverride | default .Release.Namespace -}}
{{- end }}

{{- define "dra.podLabels" -}}
app.kubernetes.io/name: {{ include "dra.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "dra.labels" -}}
{{ include "dra.podLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | quote }}
{{- end }}

{{/* (dict "root" $ "component" NAME): the one label that tells the chart's pods apart, or what overrides it. */}}
{{- define "dra.selector" -}}
{{- with .root.Values.selectorLabelsOverride -}}
{{ toYaml . }}
{{- else -}}
{{ .root.Values.nameOverride | default .root.Chart.Name }}-component: {{ .component }}
{{- end -}}
{{- end }}

{{- define "dra.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}{{ .Values.serviceAccount.name | default (printf "%s-service-account" (include "dra.fullname" .)) }}
{{- else -}}{{ .Values.serviceAccount.name | default "default" }}
{{- end -}}
{{- end }}

{{- define "dra.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default (printf "v%s" .Chart.AppVersion) }}
{{- end }}

{{/* The newest version of resource.k8s.io that the cluster serves, unless the user names one. */}}
{{- define "dra.apiVersion" -}}
{{- $found := .Values.resourceApiVersion | default "" -}}
{{- range list "resource.k8s.io/v1" "resource.k8s.io/v1beta2" "resource.k8s.io/v1beta1" -}}
{{- if and (not $found) ($.Capabilities.APIVersions.Has .) -}}{{- $found = . -}}{{- end -}}
{{- end -}}
{{- $found -}}
{{- end }}

{{/* The environment that both containers of the plugin and the controller share. */}}
{{- define "dra.environment" -}}
- name: LOG_VERBOSITY
  value: {{ .Values.logVerbosity | quote }}
- name: NVIDIA_VISIBLE_DEVICES
  value: void
{{- if .Values.featureGates }}
- name: FEATURE_GATES
  value: "{{ range $gate, $on := .Values.featureGates }}{{ $gate }}={{ $on }},{{ end }}"
{{- end }}
{{- end }}
