"""Which device matches what: selectors on planned devices, by Kubernetes' own semantics."""
