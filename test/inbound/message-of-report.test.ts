// Many reports return nothing of the message: what was sent is known all the same, so that its subject and our own
// addresses are not taken for the reason.
import t from 'tap';
import { processMail } from '../../src/inbound/process-mail.ts';
import { sampleReport } from '../classify/sample-report.ts';
import { processKit, RETURN_PATH, waitingMail } from './process-kit.ts';

const SUBJECT = 'This account no longer exists';

const NOT_ITS_REASON: [text: string, reply: string][] = [
  [`Your message "${SUBJECT}" to ann@rcpt.test could not be delivered.`, '554 delivery error'],
  ['Delivery to ann@rcpt.test failed.', `554 ${SUBJECT}: refused`],
  ['Delivery to ann@rcpt.test failed.', `550 <${RETURN_PATH}>: User unknown`],
  ['Delivery to ann@rcpt.test failed.', '550 <shop@acme.test>: User unknown'],
];

t.test('what was sent is no reason', async (t) => {
  const bounceOf = async (text: string, reply: string, message: { subject: string; from: string }) => {
    const outcome = await processMail(waitingMail(String(sampleReport({ text, reply }))), processKit(message), true);
    return outcome.kind === 'done' && outcome.update.action?.do === 'bounce' ? outcome.update.action.bounce : outcome;
  };
  const ours = { subject: SUBJECT, from: 'shop@acme.test' };
  const other = { subject: 'Your order of today', from: 'shop@other.test' };
  for (const [text, reply] of NOT_ITS_REASON) {
    t.not(await bounceOf(text, reply, ours), 'hard', `${text} ${reply}`);
    t.equal(await bounceOf(text, '550 5.1.1 <ann@rcpt.test>: User unknown', ours), 'hard', text);
    if (!reply.includes(RETURN_PATH)) t.equal(await bounceOf(text, reply, other), 'hard', `of another: ${reply}`);
  }
});

const TO_ONESELF = { from: 'info@acme.test', recipient: 'info@acme.test' };

t.test('who writes to himself is the recipient, also of a report that names none or another one', async (t) => {
  const named = String(sampleReport({ text: 'It failed.', reply: '550 5.1.1 <info@acme.test>: User unknown' }));
  const field = 'Final-Recipient: rfc822; ann@rcpt.test';
  for (const recipient of [
    'Final-Recipient: rfc822; fwd@prov.test',
    'Final-Recipient: rfc822; info@acme.test',
    'X-Else: 1',
  ]) {
    const outcome = await processMail(waitingMail(named.replace(field, recipient)), processKit(TO_ONESELF), true);
    t.match(outcome, { kind: 'done', update: { action: { do: 'bounce', bounce: 'hard' } } }, recipient);
  }
});
