-- Fewer indexes to write for each message. Messages get their IDs in the order of the call, so a submission's are found
-- in the order of the table itself, between its first and its last one.

ALTER TABLE submissions ADD COLUMN first_message BLOB;
ALTER TABLE submissions ADD COLUMN last_message BLOB;  -- NULL: the first one is the only one

UPDATE submissions SET
  first_message = (SELECT min(m.id) FROM messages m WHERE m.submission_id = submissions.id),
  last_message = (SELECT nullif(max(m.id), min(m.id)) FROM messages m WHERE m.submission_id = submissions.id);
DROP INDEX messages_of_submission;

-- When the first attempt began, if it delivered the message and its event tells all else of it: then it has no row in
-- attempts. NULL: attempts has a row for each.
ALTER TABLE messages ADD COLUMN first_attempt_at INTEGER;
