// The inbound listener, in dialogs over real sockets. Whatever comes, its answers are SMTP, only mail for addresses of ours is kept, and none that smuggles.
import { systemClock } from '../../../src/base/clock.ts';
import { IdSource } from '../../../src/base/ids.ts';
import { startInboundListener } from '../../../src/inbound/listener.ts';
import { recognise } from '../../../src/inbound/recipients.ts';
import { silentLogger } from '../../../src/observe/log.ts';
import { makeReturnPath } from '../../../src/protocol/mail/addresses/return-path.ts';
import { bareLineEndAt } from '../../../src/smtp-listener/line-ends.ts';
import type { NewInboundMail } from '../../../src/store/inbound.ts';
import { answerProblem, type Dialog, dialog, talk } from '../smtp-dialogs.ts';
import { type FuzzTarget, type OpenTarget, seedFiles } from '../target.ts';

const BOUNCES = 'bounces.postrider.test';
const KEY = { id: 'a', key: Buffer.alloc(32, 5) };
const BOOK = {
  bouncesDomain: BOUNCES,
  ehloName: 'mail.postrider.test',
  dmarcReportAddress: `reports@${BOUNCES}`,
  tokenKeys: (id: string) => (id === KEY.id ? KEY.key : undefined),
};
const MAX_OCTETS = 20_000;
/** Nobody is to be sent away for being many. */
const NO_LIMIT = 1_000_000_000;

export const smtpDialogTarget: FuzzTarget = {
  name: 'smtp-dialog',
  async open() {
    const kept: NewInboundMail[] = [];
    const ids = new IdSource();
    const listener = await startInboundListener({
      ...{ host: '127.0.0.1', port: 0, name: 'mail.postrider.test', recipients: BOOK, graceMs: 10_000 },
      limits: {
        ...{
          maxBytes: MAX_OCTETS,
          maxReadBytes: 4 * MAX_OCTETS,
          maxRoleBytes: MAX_OCTETS,
          maxUnaskedBytes: NO_LIMIT,
          maxReturnedBytes: NO_LIMIT,
        },
        ...{ connections: NO_LIMIT, connectionsPerPeer: NO_LIMIT, connectionsPerMinute: NO_LIMIT },
        ...{ mailsPerMinute: NO_LIMIT, refusalsPerMinute: NO_LIMIT },
      },
      store: {
        inbound: {
          async keepInbound(mail) {
            kept.push(mail);
            return 'kept';
          },
          findReported: async () => null,
          noteRefusedInbound: async () => {},
        },
      },
      refusal: () => null,
      isBehind: () => false,
      onKept: () => {},
      ...{ clock: systemClock, ids, log: silentLogger },
    });
    const seeds = seedFiles('smtp-dialog').map((text) =>
      text.replaceAll('[return path]', `${makeReturnPath(ids.next(), KEY)}@${BOUNCES}`).replaceAll('\n', '\r\n'),
    );
    const reached = { kept: 0, refused: 0, 'several mails': 0 };
    const target: OpenTarget<Dialog> = {
      reached,
      // Each waits for a tenth of a second: the listener listens for those that talk before they are greeted.
      atOnce: 128,
      show: ({ pieces }) => JSON.stringify(Buffer.concat(pieces).toString('latin1')),
      mutate: (random) => dialog(seeds, [`RCPT TO:<postmaster@${BOUNCES}>\r\n`], random),
      async run(input) {
        const answered = await talk(listener.port, input);
        const thanks = answered.toString('latin1').split('Ok: kept as').length - 1;
        if (thanks > 0) reached.kept++;
        if (thanks > 1) reached['several mails']++;
        if (/^[45]\d\d/m.test(answered.toString('latin1'))) reached.refused++;
        // Others may have kept some of these: each is looked at once.
        return answerProblem(answered) ?? firstKeptProblem(kept.splice(0));
      },
      close: () => listener.close(),
    };
    return target as OpenTarget<unknown>;
  },
};

function firstKeptProblem(mails: readonly NewInboundMail[]): string | null {
  for (const { content, recipients, ehloName, mailFrom } of mails) {
    if (content.length > MAX_OCTETS) return `a mail of ${content.length} octets was kept`;
    if (bareLineEndAt(content) >= 0) return 'a mail with a lone CR or LF was kept';
    if (recipients.length === 0) return 'a mail without a recipient was kept';
    const stranger = recipients.find((recipient) => recognise(recipient, BOOK).kind === 'unknown');
    if (stranger !== undefined) return `a mail for ${stranger} was kept`;
    if (/[\r\n]/.test(ehloName + mailFrom)) return 'a line end in the envelope';
  }
  return null;
}
