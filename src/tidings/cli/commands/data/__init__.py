"""Commands for those who publish, ask and subscribe, at a broker or on files."""
