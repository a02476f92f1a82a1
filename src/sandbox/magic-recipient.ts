// What the capture server does with a recipient: its local part, before any +, chooses. The
// texts are in the manner of large receivers, because tenants' code will meet such texts.

export type MagicName = 'bounce' | 'block' | 'full' | 'defer' | 'slow' | 'later-bounce' | 'complain';

export interface SmtpRefusal {
  code: number;
  /** Begins with the enhanced code of RFC 3463. */
  text: string;
}

export type Treatment =
  | { kind: 'accept' }
  | { kind: 'refuse'; reply: SmtpRefusal; onlyFirstTry: boolean }
  /** Accepts after a pause. */
  | { kind: 'pause' }
  /** Accepts, and sends a report afterwards. */
  | { kind: 'report'; report: ReportKind };

export type ReportKind = 'later-bounce' | 'complaint';

const ALWAYS = { kind: 'refuse', onlyFirstTry: false } as const;

export const MAGIC: Readonly<Record<MagicName, { treatment: Treatment; meaning: string }>> = {
  bounce: {
    meaning: 'refused: 550 5.1.1, a hard bounce',
    treatment: {
      ...ALWAYS,
      reply: {
        code: 550,
        text: '5.1.1 The mailbox that you tried to reach does not exist; check the address for typos',
      },
    },
  },
  block: {
    meaning: 'refused: 550 5.7.1, policy',
    treatment: {
      ...ALWAYS,
      // About this message: a word about our address would hold back all mail of the sandbox for hours.
      reply: { code: 550, text: '5.7.1 Message rejected due to the policy of the recipient' },
    },
  },
  full: {
    meaning: 'deferred on every attempt: 452 4.2.2',
    treatment: {
      ...ALWAYS,
      reply: { code: 452, text: '4.2.2 The mailbox is over its storage quota; the message can be sent again later' },
    },
  },
  defer: {
    meaning: 'deferred on the first attempt: 451 4.7.1, then accepted',
    treatment: {
      kind: 'refuse',
      onlyFirstTry: true,
      // The named delay keeps whoever tries this out from waiting for the first step of the ladder.
      reply: { code: 451, text: '4.7.1 Greylisted, please try again in 5 seconds' },
    },
  },
  slow: { meaning: 'accepted after a pause of 5 seconds', treatment: { kind: 'pause' } },
  'later-bounce': {
    meaning: 'accepted, then a bounce comes back by mail',
    treatment: { kind: 'report', report: 'later-bounce' },
  },
  complain: {
    meaning: 'accepted, then a complaint comes back by mail',
    treatment: { kind: 'report', report: 'complaint' },
  },
};

/**
 * Without a +: such an address can be used again and again. With +anything it behaves as in production, where
 * what has bounced or complained is rejected from then on.
 */
export function isBareMagic(address: string): boolean {
  return Object.hasOwn(MAGIC, localPartOf(address));
}

const ACCEPT: Treatment = { kind: 'accept' };

export function treatmentOf(address: string): Treatment {
  const [name = ''] = localPartOf(address).split('+', 1);
  return Object.hasOwn(MAGIC, name) ? MAGIC[name as MagicName].treatment : ACCEPT;
}

function localPartOf(address: string): string {
  return address.slice(0, address.lastIndexOf('@')).toLowerCase();
}
