-- Where no session came about: every address that was called, with its port and what came of it.

ALTER TABLE attempts ADD COLUMN tried TEXT;  -- JSON; NULL: there was a session, or nobody was called
