// The types of the package. Times are strings, as the API writes them (RFC 3339 in UTC).

export * from './types/client.js';
export * from './types/domains.js';
export * from './types/emails.js';
export * from './types/errors.js';
export * from './types/events.js';
export * from './types/stats.js';
export * from './types/submissions.js';
export * from './types/suppressions.js';
export * from './types/templates.js';
export * from './types/webhooks.js';
