// The SMTP door, in dialogs over real sockets. Whatever comes, its answers are SMTP, mail is taken only after AUTH with
// the right key, for recipients that are addresses, and none that smuggles.
import { hash } from 'node:crypto';
import { type Clock, systemClock } from '../../../src/base/clock.ts';
import { silentLogger } from '../../../src/observe/log.ts';
import { parseAddress } from '../../../src/protocol/mail/addresses/address.ts';
import { bareLineEndAt } from '../../../src/smtp-listener/line-ends.ts';
import type { ApiKey, Tenant } from '../../../src/store/tenants.ts';
import type { ArrivingMail } from '../../../src/submission/door/arriving-mail.ts';
import { startSubmissionListener } from '../../../src/submission/door/listener.ts';
import { formatApiKey } from '../../../src/tenants/api-keys.ts';
import { answerProblem, type Dialog, dialog, talk } from '../smtp-dialogs.ts';
import { type FuzzTarget, type OpenTarget, seedFiles } from '../target.ts';

const MAX_BYTES = 20_000;
/** A minute every 60 ms: connections per minute have a limit that is not configurable. */
const FAST_CLOCK: Clock = { now: () => systemClock.now() * 1000 };
/** Nobody is to be sent away for being many. */
const NO_LIMIT = 1_000_000_000;

const SECRET = 's'.repeat(43);
const TENANT = { id: 'tenant', status: 'active', statusReason: null, tier: 'uncapped' } as Tenant;
const KEY: ApiKey = {
  id: 'key',
  tenantId: TENANT.id,
  publicId: 'p'.repeat(12),
  name: 'app',
  scopes: ['emails:send'],
  boundDomain: null,
  secretHash: hash('sha256', SECRET, 'buffer'),
  createdAt: 0,
  revokedAt: null,
};
const PLAIN = Buffer.from(`\0apikey\0${formatApiKey({ publicId: KEY.publicId, secret: SECRET })}`).toString('base64');
const WORDS = [
  `AUTH PLAIN ${PLAIN}\r\n`,
  'AUTH LOGIN\r\n',
  'AUTH PLAIN\r\n',
  '*\r\n',
  'RCPT TO:<jo@receiver.test>\r\n',
];

interface Taken extends ArrivingMail {
  content: Buffer;
}

export const submissionDialogTarget: FuzzTarget = {
  name: 'submission-dialog',
  async open() {
    const taken: Taken[] = [];
    const listener = await openListener(taken);
    const port = listener.port ?? 0;
    const reached = { taken: 0, refused: 0, 'several mails': 0, 'without a key': 0 };
    const seeds = seedFiles('submission-dialog').map((text) =>
      text.replaceAll('[plain]', PLAIN).replaceAll('\n', '\r\n'),
    );
    // From now on the network is known to have the key, and wrong ones don't lock it out.
    await talk(port, { pieces: [Buffer.from(`${seeds[0]}\r\n.\r\nQUIT\r\n`)], isPatient: true, isAbrupt: false });
    const target: OpenTarget<Dialog> = {
      reached,
      // Each waits for a tenth of a second: the listener listens for those that talk before they are greeted.
      atOnce: 128,
      show: ({ pieces }) => JSON.stringify(Buffer.concat(pieces).toString('latin1')),
      mutate: (random) => dialog(seeds, WORDS, random),
      async run(input) {
        const answered = await talk(port, input);
        const said = answered.toString('latin1');
        const thanks = said.split('Ok: queued as').length - 1;
        if (thanks > 0) reached.taken++;
        if (thanks > 1) reached['several mails']++;
        if (/^530 /m.test(said)) reached['without a key']++;
        if (/^[45]\d\d/m.test(said)) reached.refused++;
        if (thanks > 0 && !said.includes('235 2.7.0')) return 'a mail was taken before AUTH';
        // Others may have handed in some of these: each is looked at once.
        return answerProblem(answered) ?? firstProblem(taken.splice(0));
      },
      close: () => listener.close(),
    };
    return target as OpenTarget<unknown>;
  },
};

function openListener(taken: Taken[]) {
  return startSubmissionListener({
    host: '127.0.0.1',
    port: 0,
    tlsPort: null,
    name: 'mail.postrider.test',
    graceMs: 10_000,
    limits: {
      maxBytes: MAX_BYTES,
      connections: NO_LIMIT,
      connectionsPerPeer: NO_LIMIT,
      connectionsPerKey: NO_LIMIT,
    },
    store: {
      keys: {
        findApiKey: async (publicId) => (publicId === KEY.publicId ? { key: KEY, tenant: TENANT } : null),
        findApiKeyBySecret: async (publicId, secretHash) =>
          publicId === KEY.publicId && secretHash.equals(KEY.secretHash) ? { key: KEY, tenant: TENANT } : null,
      },
      suppressions: {
        findReasonAgainst: async () => null,
        getSuppression: async () => null,
        listPlatformSuppressions: async () => [],
      },
    },
    takeCall: () => ({ allowed: true, retryAfterSecs: 0 }),
    keyUsed: () => {},
    refusal: () => null,
    async takeMail(mail, content) {
      const chunks: Buffer[] = [];
      for await (const chunk of content) chunks.push(chunk);
      taken.push({ ...mail, content: Buffer.concat(chunks) });
      return { code: 250, text: '2.0.0 Ok: queued as 0' };
    },
    clock: FAST_CLOCK,
    log: silentLogger,
  });
}

function firstProblem(mails: readonly Taken[]): string | null {
  for (const { content, recipients, sender } of mails) {
    if (content.length > MAX_BYTES) return `a mail of ${content.length} bytes was taken`;
    if (bareLineEndAt(content) >= 0) return 'a mail with a bare CR or LF was taken';
    if (content.includes(0)) return 'a mail with NUL was taken';
    if (sender.id !== KEY.id) return 'a mail of nobody was taken';
    if (recipients.length === 0 || recipients.length > 100) return `a mail to ${recipients.length} was taken`;
    const bad = recipients.find(({ address }) => !parseAddress(address).ok);
    if (bad) return `a mail to ${bad.address} was taken`;
  }
  return null;
}
