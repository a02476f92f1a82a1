-- Of the bounces, those that a report has told of, of messages that are counted as delivered as well.
-- What was counted before stays as it is.

ALTER TABLE chart_figures ADD COLUMN bounced_later INTEGER NOT NULL DEFAULT 0;
