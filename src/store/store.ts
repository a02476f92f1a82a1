// The store's contract: verbs, not tables. One verb is one transaction; its promise settles only after the commit (or
// the failure) of everything that the verb wrote or read. A driver may commit many verbs at once, but never answers
// one of them before that.
// Every driver passes test/store/conformance.

import type { MailLinkStore, SecondFactorStore, SessionStore } from './accounts.ts';
import type { AuditStore } from './audit.ts';
import type { CertificateStore } from './certificates.ts';
import type { DmarcStore } from './dmarc.ts';
import type { DomainCheckStore, DomainRecheckStore, DomainStore } from './domains.ts';
import type { EventStore } from './events.ts';
import type { ChartFigureStore, FiguresStore, ServiceFigureStore, TagFigureStore } from './figures.ts';
import type { InboundStore } from './inbound.ts';
import type { CallBucketStore, ConnectionStore, PortionStore, ThrottleStore } from './limits.ts';
import type { Notices } from './notices.ts';
import type { OwnerStore } from './owners.ts';
import type { PlatformKeyStore } from './platform-keys.ts';
import type { OrphanStore, QueueStore, ScheduleStore } from './queue.ts';
import type { OnboardingStore } from './reads.ts';
import type { RestoredMailStore } from './restored.ts';
import type { ShapingStore } from './shaping.ts';
import type { SourceStore } from './source-addresses.ts';
import type { SubmissionStore } from './submissions.ts';
import type { ReputationStore, SuppressionStore } from './suppressions.ts';
import type { TemplateStore } from './templates.ts';
import type { ApiKeyStore, KeyUseStore, MemberStore, TenantStore, UserStore } from './tenants.ts';
import type { TrackingStore } from './tracking.ts';
import type { TransportSecurityStore } from './transport-security.ts';
import type { RecipientMarkStore, RetentionStore } from './upkeep.ts';
import type { WebhookDeliveryStore, WebhookStore } from './webhooks.ts';
import type { WrittenMails } from './written-mails.ts';

export interface Verbs {
  tenants: TenantStore;
  keys: ApiKeyStore & KeyUseStore;
  accounts: UserStore & MemberStore & SessionStore & SecondFactorStore & MailLinkStore;
  audit: AuditStore;
  domains: DomainStore & DomainCheckStore & DomainRecheckStore;
  templates: TemplateStore;
  submissions: SubmissionStore;
  writtenMails: WrittenMails;
  queue: QueueStore & ScheduleStore & OrphanStore & RestoredMailStore;
  owners: OwnerStore;
  limits: CallBucketStore & PortionStore & ConnectionStore & ThrottleStore;
  sources: SourceStore;
  shaping: ShapingStore;
  events: EventStore;
  figures: FiguresStore & ChartFigureStore & TagFigureStore & ServiceFigureStore & OnboardingStore;
  inbound: InboundStore;
  dmarc: DmarcStore;
  suppressions: SuppressionStore;
  reputation: ReputationStore;
  webhooks: WebhookStore & WebhookDeliveryStore;
  tracking: TrackingStore;
  platformKeys: PlatformKeyStore;
  transportSecurity: TransportSecurityStore;
  certificates: CertificateStore;
  upkeep: RetentionStore & RecipientMarkStore;
}

export type Namespace = keyof Verbs;

/** The verbs that a part of the program uses: `StoreVerbs<{ queue: 'claim' | 'release' }>`. */
export type StoreVerbs<Named extends { [N in Namespace]?: keyof Verbs[N] }> = {
  [N in keyof Named]: N extends Namespace ? Pick<Verbs[N], Extract<Named[N], keyof Verbs[N]>> : never;
};

/**
 * A handle on a database. Several processes may have handles on the same one. A verb that writes sees everything that any
 * of them committed before: limits hold, and what may happen once happens once. A verb that only reads may miss what
 * another handle committed less than a second ago, never what its own handle has answered.
 */
export interface Store extends Verbs {
  /** Whether the database can be used right now. */
  ping(): Promise<boolean>;
  /** Commits a row without meaning; rejects while the database cannot be written. */
  proveWritable(at: number): Promise<void>;
  readonly notices: Notices;
  /** Waits for verbs in progress, then closes. */
  close(): Promise<void>;
}
