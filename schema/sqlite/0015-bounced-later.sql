-- Of the bounces, those that a report has told of: the receiver had taken the message, and it was counted as delivered.
-- What was counted before stays as it is.

ALTER TABLE chart_figures ADD COLUMN bounced_later INTEGER NOT NULL DEFAULT 0;
