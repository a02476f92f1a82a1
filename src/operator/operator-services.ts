// What store commands need, whether they run in the daemon or without one.
import type { Clock } from '../base/clock.ts';
import type { IdSource } from '../base/ids.ts';
import type { TimerStatus } from '../base/timers.ts';
import type { Vault } from '../base/vault.ts';
import type { Config } from '../config/keys.ts';
import type { Explainer } from '../delivery/actions/explain.ts';
import type { ActionOutcome, Attribution } from '../delivery/actions/queue-actions.ts';
import type { UnstoredResults } from '../delivery/outcome/result-writer.ts';
import type { SourceAddressState } from '../delivery/route/source-addresses.ts';
import type { CourierTrouble } from '../delivery/session/courier-pool.ts';
import type { Domains } from '../domains/domains.ts';
import type { IntakeState } from '../observe/intake.ts';
import type { OperatorAction, QueueTarget } from '../store/shaping.ts';
import type { Store } from '../store/store.ts';
import type { DoubtedReceiver } from '../store/suppressions.ts';
import type { Tenant } from '../store/tenants.ts';
import type { Scheduling } from '../submission/schedule.ts';
import type { OwnerNotices } from '../tenants/owner-notices.ts';

export interface OperatorServices {
  store: Store;
  clock: Clock;
  ids: IdSource;
  config: Config;
  queue: QueueControl;
  scheduling: Scheduling;
  /** Whether this is a sandbox's data: tenants are not reviewed there. */
  isSandbox: boolean;
  /** Seals secrets in the store; the master keys are read at the first call. */
  vault(): Vault;
  /** Registers and verifies sending domains. */
  domains(): Domains;
  /** Called once a tenant's change is on disk: the daemon wakes mail that its status held back. */
  tenantChanged(tenant: Tenant): void;
  /** Called once it is on disk that a receiver is trusted again. Returns the doubt that the daemon's memory still had. */
  receiverTrusted(mxGroup: string): DoubtedReceiver | null;
  /** Called once it is on disk that an inbound mail waits again. */
  inboundWaits(): void;
  /** Notifies owners of new keys by mail; without a daemon, the mail waits in the queue for the next one. */
  notifyOwners?: OwnerNotices;
  /** The daemon that this runs in, if any. */
  daemon?: DaemonView;
}

export interface DaemonView {
  intake(): IntakeState;
  timers(): TimerStatus[];
  /** What keeps the certificate of these names from being attempted; null: nothing. */
  certificateWaitsFor(names: readonly string[]): string | null;
  /** Lets a timer run within a second. */
  hasten(timer: string): void;
  unstoredResults(): UnstoredResults | null;
  /** Why no courier thread lives; null: they do. */
  courierTrouble(): CourierTrouble | null;
}

/** Operators' actions on the queue; in the daemon, the scheduler is notified. */
export interface QueueControl {
  act(action: OperatorAction, target: QueueTarget, attribution: Attribution): Promise<ActionOutcome>;
  /** Lets go what a restore has held; null: of every tenant. */
  release(tenantId: string | null): Promise<{ messages: number; complete: boolean }>;
  /** Explains why messages wait. */
  explain: Explainer;
  /** Our source addresses, as the running delivery sees them; undefined without one. */
  sources?(): readonly SourceAddressState[];
}
