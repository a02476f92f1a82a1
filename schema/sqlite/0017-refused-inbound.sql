-- Mail that came in and was refused whole, for its form or its size: an operator can see who lost what.
-- Its content was not kept.

ALTER TABLE inbound_mails ADD COLUMN refused_with TEXT;  -- the reply that its sender got; NULL: it was taken
CREATE INDEX inbound_refused ON inbound_mails (seq) WHERE refused_with IS NOT NULL;
