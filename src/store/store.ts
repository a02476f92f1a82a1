// The store's contract: verbs, not tables. One verb is one transaction; its promise settles
// only after the commit (or the failure) of everything that the verb wrote or saw. A driver
// may commit many verbs at once, but never answers one of them before that.
// Every driver passes test/store/conformance.
import type { DomainStore } from './domains.ts';
import type { EventStore } from './events.ts';
import type { PlatformKeyStore } from './platform-keys.ts';
import type { QueueStore } from './queue.ts';
import type { SubmissionStore } from './submissions.ts';
import type { SuppressionStore } from './suppressions.ts';
import type { TemplateStore } from './templates.ts';
import type { TenantStore } from './tenants.ts';
import type { WebhookStore } from './webhooks.ts';

export interface Store
  extends TenantStore,
    DomainStore,
    TemplateStore,
    SubmissionStore,
    QueueStore,
    EventStore,
    SuppressionStore,
    WebhookStore,
    PlatformKeyStore {
  /** Whether the database can be reached right now. */
  ping(): Promise<boolean>;
  /** Waits for what is under way, then closes. */
  close(): Promise<void>;
}
