// What store commands work with, whether they run in the daemon or beside none.
import type { Clock } from '../base/clock.ts';
import type { IdSource } from '../base/ids.ts';
import type { TimerStatus } from '../base/timers.ts';
import type { Vault } from '../base/vault.ts';
import type { Config } from '../config/keys.ts';
import type { Explainer } from '../delivery/actions/explain.ts';
import type { ActionOutcome, Attribution } from '../delivery/actions/queue-actions.ts';
import type { UnstoredResults } from '../delivery/outcome/result-writer.ts';
import type { SourceAddressState } from '../delivery/route/source-addresses.ts';
import type { IntakeState } from '../observe/intake.ts';
import type { OperatorAction, QueueTarget } from '../store/shaping.ts';
import type { Store } from '../store/store.ts';
import type { Tenant } from '../store/tenants.ts';
import type { OwnerNotices } from '../tenants/owner-notices.ts';

export interface OperatorServices {
  store: Store;
  clock: Clock;
  ids: IdSource;
  config: Config;
  queue: QueueControl;
  /** Whether this is a sandbox's data: there no tenant is reviewed. */
  isSandbox: boolean;
  /** What seals secrets in the store; its keys are read when the first is needed. */
  vault(): Vault;
  /** Called after a tenant's change is on disk: the daemon wakes what its status held back. */
  tenantChanged(tenant: Tenant): void;
  /** Called after it is on disk that a receiver's hard bounces are believed again. */
  receiverTrusted(mxGroup: string): void;
  /** Called after it is on disk that an inbound mail waits again. */
  inboundWaits(): void;
  /** Told by mail of new keys; without a daemon the mail waits in the queue for the next one. */
  tellOwners?: OwnerNotices;
  /** The daemon that this runs in; not there without one. */
  daemon?: DaemonView;
}

export interface DaemonView {
  intake(): IntakeState;
  timers(): TimerStatus[];
  unstoredResults(): UnstoredResults | null;
}

/** The operator's hand on the queue; in the daemon the scheduler must hear of it. */
export interface QueueControl {
  act(action: OperatorAction, target: QueueTarget, attribution: Attribution): Promise<ActionOutcome>;
  /** Why things wait. */
  explain: Explainer;
  /** Our own addresses, as the running delivery sees them; not there without one. */
  sources?(): readonly SourceAddressState[];
}
