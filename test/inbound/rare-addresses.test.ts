// A hard report names the message's recipient, however unusual the address is: it suppresses it, and is no forwarded copy.
import t from 'tap';
import { processMail } from '../../src/inbound/process-mail.ts';
import { processKit, waitingMail } from './process-kit.ts';

function report(final: string, original: string): string {
  return `From: MAILER-DAEMON@mx.test\nSubject: Undelivered\nContent-Type: multipart/report; report-type=delivery-status; boundary=b\n\n--b\n\nYour message was not delivered.\n--b\nContent-Type: message/global-delivery-status; charset=utf-8\n\nReporting-MTA: dns; mx.test\n\nFinal-Recipient: ${final}\nOriginal-Recipient: ${original}\nAction: failed\nStatus: 5.1.1\nDiagnostic-Code: smtp; 550 5.1.1 User unknown\n--b--\n`;
}

async function actionOn(recipient: string, final: string, original = final) {
  const outcome = await processMail(waitingMail(report(final, original)), processKit({ recipient }), true);
  if (outcome.kind !== 'done') throw new Error(outcome.reason);
  return outcome.update.action;
}

t.test('rare valid local parts', async (t) => {
  for (const local of [
    '"jo smith"',
    '*x',
    '=x',
    "'o",
    '`x',
    'x|y',
    '{x}',
    '"a,b"',
    '"a;b"',
    '"a@b"',
    "o'neil",
    'jörg',
  ]) {
    const recipient = `${local}@rcpt.test`;
    t.match(await actionOn(recipient, `rfc822; ${recipient}`), { bounce: 'hard', suppress: {} }, recipient);
  }
  const spaced = await actionOn(
    '"jo smith"@rcpt.test',
    'rfc822; "jo smith"@rcpt.test',
    'rfc822;"jo+20smith"@rcpt.test',
  );
  t.match(spaced, { bounce: 'hard', suppress: {} }, 'as xtext');
  const encoded = await actionOn('jörg@rcpt.test', 'utf-8; j\\x{F6}rg@rcpt.test');
  t.match(encoded, { bounce: 'hard', suppress: {} }, 'encoded');
});

t.test('what is no address as it stands is searched for one', async (t) => {
  for (const written of [
    '<jo@rcpt.test>',
    'jo@rcpt.test.',
    "'jo@rcpt.test'",
    'jo@rcpt.test (Jo)',
    'Jo <jo@rcpt.test>',
  ]) {
    const action = await actionOn('jo@rcpt.test', `rfc822; ${written}`, `rfc822;${written}`);
    t.match(action, { bounce: 'hard', suppress: {} }, written);
  }
});

t.test('another address is a forwarded copy', async (t) => {
  const action = await actionOn('*x@rcpt.test', 'rfc822; x@rcpt.test');
  t.match(action, { bounce: 'soft', suppress: null, event: { data: { bounce: { forwarded_to: 'x@rcpt.test' } } } });
});
