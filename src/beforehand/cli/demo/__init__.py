"""`beforehand demo` (`command`): the `folder` of its results, its `steps`, and their `summary`."""
