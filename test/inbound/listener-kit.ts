// A listener on loopback with a store that only keeps and knows every message, and everything about it that a test may change.
import type { Test } from 'tap';
import { systemClock } from '../../src/base/clock.ts';
import { IdSource } from '../../src/base/ids.ts';
import { type ListenerOptions, startInboundListener } from '../../src/inbound/listener.ts';
import { silentLogger } from '../../src/observe/log.ts';
import { makeReturnPath } from '../../src/protocol/mail/addresses/return-path.ts';
import type { NewInboundMail, RefusedInboundMail } from '../../src/store/inbound.ts';
import { patience } from '../support/patience.ts';
import { MESSAGE } from './process-kit.ts';

export const BOUNCES = 'bounces.postrider.test';
export const KEY = { id: 'a', key: Buffer.alloc(32, 5) };
const ids = new IdSource();

export const LIMITS: ListenerOptions['limits'] = {
  maxBytes: 100_000,
  maxReadBytes: 400_000,
  maxRoleBytes: 50_000,
  maxUnaskedBytes: 1_000_000,
  maxReturnedBytes: 1_000_000,
  connections: 50,
  connectionsPerPeer: 50,
  connectionsPerMinute: 1000,
  mailsPerMinute: 1000,
  refusalsPerMinute: 100,
};

export function newReturnPath(messageId = ids.next()): string {
  return `${makeReturnPath(messageId, KEY)}@${BOUNCES}`;
}

export interface Reception {
  port: number;
  kept: NewInboundMail[];
  refused: RefusedInboundMail[];
  close(): Promise<void>;
}

type Change = Partial<Omit<ListenerOptions, 'store'>> & {
  store?: { inbound: Partial<ListenerOptions['store']['inbound']> };
};

export async function receive(t: Test, { store, ...options }: Change = {}): Promise<Reception> {
  const kept: NewInboundMail[] = [];
  const refused: RefusedInboundMail[] = [];
  const listener = await startInboundListener({
    host: '127.0.0.1',
    port: 0,
    name: 'mail.postrider.test',
    graceMs: patience(10_000),
    limits: LIMITS,
    recipients: {
      bouncesDomain: BOUNCES,
      ehloName: 'mail.postrider.test',
      dmarcReportAddress: `reports@${BOUNCES}`,
      tokenKeys: (id) => (id === KEY.id ? KEY.key : undefined),
    },
    store: {
      inbound: {
        async keepInbound(mail) {
          kept.push(mail);
          return 'kept';
        },
        findReported: async () => MESSAGE,
        noteRefusedInbound: async (mail) => void refused.push(mail),
        ...store?.inbound,
      },
    },
    refusal: () => null,
    isBehind: () => false,
    onKept: () => {},
    clock: systemClock,
    ids,
    log: silentLogger,
    ...options,
  });
  t.teardown(() => listener.close());
  return { port: listener.port, kept, refused, close: () => listener.close() };
}
