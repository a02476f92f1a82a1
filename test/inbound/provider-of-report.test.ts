// A report at a return path is judged with the MX group that its message went to: rules about one provider ask
// it, and no name that stands in the report.
import t from 'tap';
import { systemClock } from '../../src/base/clock.ts';
import { loadBounceRules, SHIPPED_RULES } from '../../src/classify/load-rules.ts';
import { type ProcessKit, processMail } from '../../src/inbound/process-mail.ts';
import { makeReturnPath } from '../../src/protocol/mail/addresses/return-path.ts';
import { readInboundMail } from '../../src/protocol/mail/inbound/read-inbound-mail.ts';
import type { ReportedMessage, WaitingInboundMail } from '../../src/store/inbound.ts';

const ID = '01234567-89ab-7def-8123-456789abcdef';
const KEY = { id: 'a', key: Buffer.alloc(32, 7) };

const MESSAGE: ReportedMessage = {
  ...{
    id: ID,
    tenantId: 't',
    submissionId: 's',
    recipient: 'ann@docomo.ne.jp',
    from: 'a@b.test',
    fromDomain: 'b.test',
    labels: null,
  },
  ...{ subject: 'x', state: 'delivered', attempts: 1, createdAt: 1, mxGroup: null, bouncesDomain: null },
};

const REPORT = `From: MAILER-DAEMON@mx.test
Subject: Undelivered Mail
Content-Type: multipart/report; report-type=delivery-status; boundary=b

--b

<ann@docomo.ne.jp>: host mfsmax.docomo.ne.jp[192.0.2.1] said: 550 Unknown user
    ann@docomo.ne.jp (in reply to end of DATA command)

--b
Content-Type: message/delivery-status

Reporting-MTA: dns; mx.test

Final-Recipient: rfc822; ann@docomo.ne.jp
Action: failed
Status: 5.0.0
Remote-MTA: dns; mfsmax.docomo.ne.jp
Diagnostic-Code: smtp; 550 Unknown user ann@docomo.ne.jp

--b--
`;

const WAITING: WaitingInboundMail = {
  ...{
    seq: 1,
    slot: 1,
    tries: 0,
    id: ID,
    receivedAt: 1,
    remoteIp: '192.0.2.1',
    ehloName: 'mx.test',
    tls: null,
    mailFrom: '',
  },
  recipients: [`${makeReturnPath(ID, KEY)}@bounces.test`],
  content: Buffer.from(REPORT),
};

function kit(mxGroup: string | null): ProcessKit {
  return {
    clock: systemClock,
    ids: { next: () => ID },
    rules: loadBounceRules(SHIPPED_RULES),
    recipients: { bouncesDomain: 'bounces.test', dmarcReportAddress: 'dmarc@bounces.test', tokenKeys: () => KEY.key },
    platformSuppressionMs: 1,
    read: readInboundMail,
    doubtOf: () => null,
    store: { inbound: { findReported: async () => ({ ...MESSAGE, mxGroup }) } },
  } as unknown as ProcessKit;
}

const CASES: [mxGroup: string | null, bounce: string][] = [
  ['mfsmax.docomo.ne.jp', 'block'],
  ['mx1.docomo.ne.jp,mx2.docomo.ne.jp', 'block'],
  ['mx.there.test,mx2.docomo.ne.jp', 'hard'],
  ['mx.there.test', 'hard'],
  [null, 'hard'],
];

t.test('the group decides, not the name in the report', async (t) => {
  for (const [mxGroup, bounce] of CASES) {
    const outcome = await processMail(WAITING, kit(mxGroup), true);
    const action = { do: 'bounce', bounce, ...(bounce === 'block' && { suppress: null }) };
    t.match(outcome, { kind: 'done', update: { action } }, `${mxGroup}`);
  }
});
