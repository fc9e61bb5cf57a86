"""`beforehand diagram` (`command`): reads `events`, marks wrong deliveries (`judge`), writes a drawing."""
