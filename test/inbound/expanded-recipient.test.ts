// A message to a group goes to its members, and a forwarded one to its target: if one of them does not exist, the address that
// the message was sent to still does. The report's own words tell (Postfix, Exim), whatever its fields name.
import t from 'tap';
import { processMail } from '../../src/inbound/process-mail.ts';
import { processKit, waitingMail } from './process-kit.ts';

const HEAD =
  'From: Mail Delivery System <MAILER-DAEMON@mx.test>\nTo: s@acme.test\nSubject: Undelivered Mail Returned to Sender\n';

function postfix(recipient: string, final = 'bob@gone.test'): string {
  const text = `This is the mail system at host mx.test.\n\n${recipient}: user unknown\n`;
  const status = `Reporting-MTA: dns; mx.test\n\nFinal-Recipient: rfc822; ${final}\nOriginal-Recipient: rfc822;ann@rcpt.test\nAction: failed\nStatus: 5.1.1\nDiagnostic-Code: X-Postfix; user unknown\n`;
  return `${HEAD}Content-Type: multipart/report; report-type=delivery-status; boundary=b\n\n--b\n\n${text}--b\nContent-Type: message/delivery-status\n\n${status}\n--b--\n`;
}

function exim(recipient: string): string {
  return `${HEAD}\nThis message was created automatically by mail delivery software.\n\nA message that you sent could not be delivered to one or more of its\nrecipients. This is a permanent error. The following address(es) failed:\n\n${recipient}\n`;
}

const ERROR = 'SMTP error from remote mail server after RCPT TO:<bob@gone.test>:\n    550 5.1.1 does not exist';

t.test('a member that is gone', async (t) => {
  for (const mail of [
    postfix('<bob@gone.test> (expanded from <ann@rcpt.test>)'),
    postfix('<bob@gone.test> (expanded from\n    <ANN+list@rcpt.test>)'),
    exim(`  bob@gone.test\n    (generated from ann@rcpt.test)\n    ${ERROR}`),
    exim(`  bob@gone.test\n    (ultimately generated from ann@rcpt.test)\n    ${ERROR}`),
    exim('  bob@gone.test (generated from ann@rcpt.test): 550 5.1.1 does not exist'),
  ]) {
    const { update } = (await processMail(waitingMail(mail), processKit({}), true)) as { update: unknown };
    const bounce = { bounce: { type: 'soft', suppressed: false, forwarded_to: 'bob@gone.test' } };
    t.match(update, { action: { do: 'bounce', bounce: 'soft', suppress: null, event: { data: bounce } } }, mail);
  }
});

t.test('the mailbox itself', async (t) => {
  for (const mail of [
    postfix('<ann@mailbox.rcpt.test>', 'ann@mailbox.rcpt.test'),
    postfix('<ann@rcpt.test> (expanded from <ann@rcpt.test>)', 'ann@rcpt.test'),
    exim(`  ann@rcpt.test\n    (generated from list@rcpt.test)\n    ${ERROR}`),
  ]) {
    const outcome = await processMail(waitingMail(mail), processKit({}), true);
    t.match(outcome, { update: { action: { do: 'bounce', bounce: 'hard', suppress: {} } } }, mail);
  }
});
