// The client and its options.

import type { Domains } from './domains.js';
import type { Emails } from './emails.js';
import type { Events } from './events.js';
import type { Stats, StatsQuery } from './stats.js';
import type { Submissions } from './submissions.js';
import type { Suppressions } from './suppressions.js';
import type { Templates } from './templates.js';
import type { Webhooks } from './webhooks.js';

export declare const VERSION: string;

export interface PostriderOptions {
  /** Otherwise the environment variable POSTRIDER_API_KEY. */
  apiKey?: string | undefined;
  /** Otherwise the environment variable POSTRIDER_BASE_URL. */
  baseUrl?: string | undefined;
  /** After network failures, 429 and 5xx: 3 unless given, 0 for none. */
  maxRetries?: number | undefined;
  /** For each attempt: 30,000 unless given. */
  timeoutMs?: number | undefined;
}

export declare class Postrider {
  constructor(options?: PostriderOptions);
  readonly emails: Emails;
  readonly submissions: Submissions;
  readonly domains: Domains;
  readonly webhooks: Webhooks;
  readonly templates: Templates;
  readonly suppressions: Suppressions;
  readonly events: Events;
  /** What happened, counted by day or hour. */
  stats(query?: StatsQuery): Promise<Stats>;
  /** Whether the service reaches its database; a 503 that says it does not is an answer, no error. */
  health(): Promise<Health>;
}

export interface Health {
  status: 'ok' | 'db_unreachable';
}
