"""`beforehand simulate`: its options, the run, and the view of its figures."""
