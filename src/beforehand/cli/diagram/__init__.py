"""`beforehand diagram`: reads `events`, marks wrong deliveries (`judge`), and writes the drawing."""
