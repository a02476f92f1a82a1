// What comes back, put together: the listener, what it keeps, and what that does.

import { type Clock, HOUR_MS } from '../base/clock.ts';
import type { IdSource } from '../base/ids.ts';
import type { TimerSpec } from '../base/timers.ts';
import type { BounceRules } from '../classify/classify-reply.ts';
import type { TlsFiles } from '../http/tls-files.ts';
import type { Logger } from '../observe/log.ts';
import type { Resolver } from '../protocol/dns/resolver.ts';
import { readInboundMail } from '../protocol/mail/inbound/read-inbound-mail.ts';
import type { Store, StoreVerbs } from '../store/store.ts';
import { type DmarcKit, readDmarcMail } from './dmarc.ts';
import { type ListenerOptions, startInboundListener } from './listener.ts';
import type { ReceptionOutcome } from './mail-keeper.ts';
import type { Recorded } from './mail-work.ts';
import { PassOn, type PassOnKit } from './pass-on.ts';
import { processMail } from './process-mail.ts';
import { InboundProcessor } from './processor.ts';
import { proveSender } from './report-sender.ts';

export interface InboundKit {
  listen: Pick<ListenerOptions, 'host' | 'port' | 'name' | 'limits'> & { tls?: TlsFiles };
  store: Pick<Store, 'inbound'> &
    StoreVerbs<{ domains: 'findVerifiedHolder'; suppressions: 'forgetExpiredSuppressions' }>;
  resolver: Resolver;
  rules: BounceRules;
  service: { bouncesDomain: string; dmarcReportAddress: string; dkimDomain: string; operatorAddress: string | null };
  /** All that are known, by id. */
  tokenKeys: ReadonlyMap<string, Buffer>;
  platformSuppressionMs: number;
  keepFor: { contentMs: number; recordsMs: number };
  dmarcLimits: DmarcKit['limits'];
  /** Why nothing is taken at the moment; null while mail is. */
  refusal(): string | null;
  /** Why hard bounces of these servers are not believed at the moment; null: they are. */
  doubtOf(mxGroup: string | null): string | null;
  onRecorded(recorded: Recorded): void;
  /** Told how each mail ended that came in. */
  onReceived?(outcome: ReceptionOutcome): void;
  /** Into the queue. */
  send: PassOnKit['send'];
  clock: Clock;
  ids: IdSource;
  log: Logger;
}

export interface Inbound {
  smtpPort: number;
  timers: TimerSpec[];
  /** A mail that had been acted on waits again. */
  lookAgain(): void;
  /** Takes nothing new; what was begun is finished. */
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
    clock,
    log,
    onRecorded: kit.onRecorded,
    process: (mail, isPatient) => processMail(mail, processKit, isPatient),
  });
  const dmarc: DmarcKit = { store, limits: kit.dmarcLimits, proveSender: (mail) => proveSender(mail, kit.resolver) };
  const processKit = {
    store,
    clock,
    ids,
    rules: kit.rules,
    resolver: kit.resolver,
    recipients,
    tokenKeys,
    serviceDkimDomain: service.dkimDomain,
    platformSuppressionMs: kit.platformSuppressionMs,
    read: readInboundMail,
    doubtOf: kit.doubtOf,
    readDmarc: (mail: Parameters<typeof readDmarcMail>[0]) => readDmarcMail(mail, dmarc),
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
    onKept: () => processor.notice(),
    ...(kit.onReceived && { onReceived: kit.onReceived }),
  });
  await processor.start();
  return {
    smtpPort: listener.port,
    timers: [{ name: 'old inbound mail', periodMs: HOUR_MS, run: () => forgetOld(kit) }],
    lookAgain: () => processor.lookAgain(),
    async close() {
      await listener.close();
      await processor.stop();
    },
  };
}

type PassOnArguments = Parameters<Parameters<typeof processMail>[1]['passOn']>;

/** Small slices: the writer has other things to do. */
const SLICE = 500;
const MOST_SLICES = 200;

async function forgetOld({ store, clock, keepFor }: InboundKit): Promise<string> {
  const now = clock.now();
  const before = { content: now - keepFor.contentMs, records: now - keepFor.recordsMs };
  const erased = await inSlices(() => store.inbound.forgetInbound(before, SLICE));
  const expired = await inSlices(() => store.suppressions.forgetExpiredSuppressions(now, SLICE));
  return `${erased} erased, ${expired} suppressions expired`;
}

async function inSlices(slice: () => Promise<number>): Promise<number> {
  let total = 0;
  for (let count = 0; count < MOST_SLICES; count++) {
    const done = await slice();
    total += done;
    if (done === 0) break;
  }
  return total;
}
