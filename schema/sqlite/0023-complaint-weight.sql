-- How much the proof of a complaint says: 1 for a CFBL token or a signed original, 0.5 for the return path alone.
-- Complaints from before this have none, and count 1 as they did.

ALTER TABLE messages ADD COLUMN complaint_weight REAL;
