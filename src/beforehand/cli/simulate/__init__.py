"""`beforehand simulate` (`command`): its options, the run, and the view of its figures."""
