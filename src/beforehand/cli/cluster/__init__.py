"""`beforehand cluster` (`command`): `run` a cluster, watch it `live`, and `view` the verdict."""
