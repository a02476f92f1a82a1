-- Which events a webhook is sent: a JSON list of types and families. NULL: every event.
ALTER TABLE webhooks ADD COLUMN events TEXT;

-- Of a message that is sent with the template: Liquid. NULL: the call brings its own.
ALTER TABLE templates ADD COLUMN subject TEXT;
