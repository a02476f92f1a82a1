// A report at a return path is judged with the MX group that its message went to: rules about one provider ask
// it, and no name that stands in the report.
import t from 'tap';
import { processMail } from '../../src/inbound/process-mail.ts';
import { processKit, waitingMail } from './process-kit.ts';

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

const CASES: [mxGroup: string | null, bounce: string][] = [
  ['mfsmax.docomo.ne.jp', 'block'],
  ['mx1.docomo.ne.jp,mx2.docomo.ne.jp', 'block'],
  ['mx.there.test,mx2.docomo.ne.jp', 'hard'],
  ['mx.there.test', 'hard'],
  [null, 'hard'],
];

t.test('the group decides, not the name in the report', async (t) => {
  for (const [mxGroup, bounce] of CASES) {
    const outcome = await processMail(
      waitingMail(REPORT),
      processKit({ recipient: 'ann@docomo.ne.jp', mxGroup }),
      true,
    );
    const action = { do: 'bounce', bounce, ...(bounce === 'block' && { suppress: null }) };
    t.match(outcome, { kind: 'done', update: { action } }, `${mxGroup}`);
  }
});
