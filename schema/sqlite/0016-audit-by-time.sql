-- Entries of the audit log are erased some day.

CREATE INDEX audit_by_time ON audit (at);
