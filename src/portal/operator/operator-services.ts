// What the operator's pages work with: the store, the daemon's own views of itself, and the same hands on the
// queue that the command line has.
import type { Clock } from '../../base/clock.ts';
import type { IdSource } from '../../base/ids.ts';
import type { TimerStatus } from '../../base/timers.ts';
import type { Explainer } from '../../delivery/actions/explain.ts';
import type { ActionOutcome, Attribution } from '../../delivery/actions/queue-actions.ts';
import type { UnstoredResults } from '../../delivery/outcome/result-writer.ts';
import type { SourceAddressState } from '../../delivery/route/source-addresses.ts';
import type { Domains } from '../../domains/domains.ts';
import type { IntakeState } from '../../observe/intake.ts';
import type { HeldCertificate } from '../../operator/held-certificates.ts';
import type { PortalReads } from '../../store/reads.ts';
import type { OperatorAction, QueueTarget } from '../../store/shaping.ts';
import type { Store } from '../../store/store.ts';
import type { DoubtedReceiver } from '../../store/suppressions.ts';
import type { Notice } from '../../submission/service-mail.ts';
import type { BrakeState } from '../../suppression/brake.ts';
import type { SecondStepFor } from '../../tenants/accounts/second-step-rule.ts';
import type { Keys } from '../../tenants/keys.ts';
import type { OwnerNotices } from '../../tenants/owner-notices.ts';
import type { MailReader } from '../mails/mail-reader.ts';
import type { DoctorRuns } from './doctor-runs.ts';

export interface QueueOperations {
  act(action: OperatorAction, target: QueueTarget, attribution: Attribution): Promise<ActionOutcome>;
  explain: Pick<Explainer, 'message' | 'group' | 'groups'>;
  sources?(): readonly SourceAddressState[];
}

export interface OperatorServices {
  clock: Clock;
  ids: IdSource;
  keys: Pick<Keys, 'create'>;
  domains: Pick<Domains, 'register' | 'get' | 'verify' | 'recordsOf'>;
  /** `portal.require_second_step`. */
  secondStepFor: SecondStepFor;
  notifyOwners?: OwnerNotices;
  store: Pick<
    Store,
    | 'tenants'
    | 'owners'
    | 'queue'
    | 'shaping'
    | 'domains'
    | 'figures'
    | 'inbound'
    | 'reputation'
    | 'dmarc'
    | 'suppressions'
    | 'accounts'
    | 'keys'
    | 'audit'
  >;
  reads: Pick<
    PortalReads,
    'searchMessages' | 'queueOverview' | 'queueSlice' | 'parkedMessages' | 'recentResultsOf' | 'serviceFigures'
  >;
  queue: QueueOperations;
  intake(): IntakeState;
  timers(): readonly TimerStatus[];
  unstoredResults(): UnstoredResults | null;
  certificates(): Promise<HeldCertificate[]>;
  doctor: DoctorRuns;
  reader: MailReader;
  /** Told after a tenant's change is on disk. */
  tenantChanged(): void;
  /** Told after it is on disk that a receiver's hard bounces are believed again; returns the doubt that memory still had. */
  receiverTrusted(mxGroup: string): DoubtedReceiver | null;
  /** How near a tenant is to a review; null: it is never reviewed here. */
  brake(tenantId: string): Promise<BrakeState | null>;
  /** What another tenant would be stopped for, of the service's own mail; null: nothing. */
  ownTrouble(): Promise<string | null>;
  /** Told after it is on disk that an inbound mail waits again. */
  inboundWaits(): void;
  /** By mail. */
  notify(to: readonly string[], notice: Notice): void;
  /** `service.base_url`. */
  baseUrl: string;
  /** `service.dkim_domain`: whoever holds it is the tenant that the service's own mail goes out from. */
  ownDomain: string;
  /** `limits.review_window`. */
  reviewWindow: number;
  sandbox: boolean;
}
