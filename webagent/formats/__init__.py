"""The file formats that people and other tools write: read into the nouns of `core`, and back."""
