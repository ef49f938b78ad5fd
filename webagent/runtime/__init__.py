"""The hands: they carry out what the engine decides, through ports. No adapter is named here."""
