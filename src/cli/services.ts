// What store commands work with, whether they run in the daemon or beside none.
import type { Clock } from '../base/clock.ts';
import type { IdSource } from '../base/ids.ts';
import type { Config } from '../config/keys.ts';
import type { Store } from '../store/store.ts';
import type { Tenant } from '../store/tenants.ts';

export interface OperatorServices {
  store: Store;
  clock: Clock;
  ids: IdSource;
  config: Config;
  queue: QueueControl;
  /** Called after a tenant's change is on disk: the daemon wakes what its status held back. */
  tenantChanged(tenant: Tenant): void;
}

export type QueueVerdict = 'done' | 'not_waiting';

/** Acting on waiting messages; in the daemon the scheduler must hear of it. */
export interface QueueControl {
  retry(messageId: string): Promise<QueueVerdict>;
  cancel(messageId: string, reason: string): Promise<QueueVerdict>;
}
