"""Distilled test suites (Zhong et al. 2020): databases that tell a gold query from the queries close to it."""
