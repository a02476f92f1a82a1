// Wires inbound mail: the listener, the store, and the processor of what it keeps.

import { type Clock, HOUR_MS } from '../base/clock.ts';
import type { IdSource } from '../base/ids.ts';
import type { TimerSpec } from '../base/timers.ts';
import type { BounceRules } from '../classify/classify-reply.ts';
import type { TlsFiles, TlsSource } from '../http/tls-files.ts';
import type { Logger } from '../observe/log.ts';
import type { Resolver } from '../protocol/dns/lookup/resolver.ts';
import { readInboundMail } from '../protocol/mail/inbound/read-inbound-mail.ts';
import type { WaitingInboundMail } from '../store/inbound.ts';
import type { Ownership } from '../store/ownership.ts';
import type { Store, StoreVerbs } from '../store/store.ts';
import { type DmarcKit, DmarcReader } from './dmarc.ts';
import { proveSender } from './dmarc-sender.ts';
import { type ListenerOptions, startInboundListener } from './listener.ts';
import { LOOKUPS_MS, withinLookupTime } from './lookup-time.ts';
import type { ReceptionOutcome } from './mail-keeper.ts';
import type { Recorded } from './mail-work.ts';
import { PassOn, type PassOnKit } from './pass-on.ts';
import { processMail } from './process-mail.ts';
import { InboundProcessor } from './processor.ts';

export interface InboundKit {
  listen: Pick<ListenerOptions, 'host' | 'port' | 'name' | 'limits' | 'graceMs'> & {
    tls?: TlsFiles | TlsSource;
  };
  store: Pick<Store, 'inbound' | 'notices'> &
    StoreVerbs<{ domains: 'findVerifiedHolder'; suppressions: 'forgetExpiredSuppressions' }>;
  ownership: Ownership;
  resolver: Resolver;
  rules: BounceRules;
  service: { bouncesDomain: string; dmarcReportAddress: string; dkimDomain: string; operatorAddress: string | null };
  /** All known keys, by id. */
  tokenKeys: ReadonlyMap<string, Buffer>;
  platformSuppressionMs: number;
  keepFor: { contentMs: number; recordsMs: number };
  dmarcLimits: DmarcKit['limits'];
  /** Why no mail is accepted at the moment; null: it is accepted. */
  refusal(): string | null;
  /** Why this group's hard bounces are doubted; null: they are trusted. */
  doubtOf(mxGroup: string | null): string | null;
  onRecorded(recorded: Recorded): void;
  /** Called with the outcome of each mail's reception. */
  onReceived?(outcome: ReceptionOutcome): void;
  /** Queues a mail of the service. */
  send: PassOnKit['send'];
  clock: Clock;
  ids: IdSource;
  log: Logger;
}

export interface Inbound {
  smtpPort: number;
  timers: TimerSpec[];
  /** A processed mail was put back and waits again. */
  rescan(): void;
  /** Accepts nothing new; finishes what has begun. */
  close(): Promise<void>;
}

export async function startInbound(kit: InboundKit): Promise<Inbound> {
  const { store, clock, ids, log, service } = kit;
  const tokenKeys = (keyId: string) => kit.tokenKeys.get(keyId);
  const { bouncesDomain, dmarcReportAddress, operatorAddress } = service;
  const recipients = { bouncesDomain, ehloName: kit.listen.name, dmarcReportAddress, tokenKeys };
  const passOn = new PassOn({ operatorAddress, recipients, clock, log, send: kit.send });
  const processor = new InboundProcessor({
    store,
    ownership: kit.ownership,
    clock,
    log,
    onRecorded: kit.onRecorded,
    process: (mail, mayDefer) =>
      withinLookupTime(kit.resolver, LOOKUPS_MS, (resolver) =>
        processMail(mail, { ...processKit, resolver }, mayDefer),
      ),
  });
  const dmarc = new DmarcReader({
    store,
    limits: kit.dmarcLimits,
    proveSender: (mail) => withinLookupTime(kit.resolver, LOOKUPS_MS, (resolver) => proveSender(mail, resolver)),
  });
  const processKit = {
    store,
    clock,
    ids,
    rules: kit.rules,
    recipients,
    tokenKeys,
    serviceDkimDomain: service.dkimDomain,
    platformSuppressionMs: kit.platformSuppressionMs,
    read: readInboundMail,
    doubtOf: kit.doubtOf,
    readDmarc: (mail: WaitingInboundMail) => dmarc.read(mail),
    passOn: (...[mail, role, about]: PassOnArguments) => passOn.take(mail, { role, ...about }),
  };
  const listener = await startInboundListener({
    ...kit.listen,
    recipients,
    store,
    clock,
    ids,
    log,
    refusal: kit.refusal,
    isBehind: () => processor.isBehind,
    onKept(slot, of) {
      if (slot === undefined || kit.ownership.of(slot)) processor.noticeKept(of);
      else store.notices.tellInbound();
    },
    ...(kit.onReceived && { onReceived: kit.onReceived }),
  });
  await processor.start();
  // Not after the last one that is known: another node's commits come in an order of their own.
  const rescan = () => processor.rescan();
  store.notices.listen({ inboundWaits: rescan, missed: rescan });
  return {
    smtpPort: listener.port,
    timers: [{ name: 'old inbound mail', periodMs: HOUR_MS, run: () => forgetOld(kit) }],
    rescan() {
      processor.rescan();
      store.notices.tellInbound();
    },
    async close() {
      await listener.close();
      const stopped = processor.stop();
      dmarc.stop();
      await stopped;
    },
  };
}

type PassOnArguments = Parameters<Parameters<typeof processMail>[1]['passOn']>;

/** Small slices, so that the writer serves others in between. */
const SLICE = 500;
const MAX_SLICES = 200;

async function forgetOld({ store, clock, keepFor }: InboundKit): Promise<string> {
  const now = clock.now();
  const before = { content: now - keepFor.contentMs, records: now - keepFor.recordsMs };
  const erased = await inSlices(() => store.inbound.forgetInbound(before, SLICE));
  const expired = await inSlices(() => store.suppressions.forgetExpiredSuppressions(now, SLICE));
  return `${erased} erased, ${expired} suppressions expired`;
}

async function inSlices(slice: () => Promise<number>): Promise<number> {
  let total = 0;
  for (let count = 0; count < MAX_SLICES; count++) {
    const done = await slice();
    total += done;
    if (done === 0) break;
  }
  return total;
}
