"""`beforehand diagram` (`command`): reads `events`, marks wrong deliveries (`judge`), and draws."""
