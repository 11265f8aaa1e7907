"""Azure Resource Manager on a laptop: the few resource types that the components use, with ARM's rules, served to the
real engine as the plugin `pulumi-resource-azure-native`. Nothing here can reach Azure.
"""
