// bounce reply, from outside.
import t from 'tap';
import { runInThisProcess } from './program.ts';

t.test('bounce reply says what a reply means and what decided', async (t) => {
  const asJson = async (...args: string[]) => {
    const { code, stdout } = await runInThisProcess(['bounce', 'reply', ...args, '--json']);
    t.equal(code, 0);
    return JSON.parse(stdout);
  };
  t.same(await asJson('550 5.1.1 <ann@rcpt.test>: User unknown'), {
    class: 'hard',
    label: 'no_mailbox',
    action: 'give_up',
    rule: 'no-such-mailbox',
    reason: 'the mailbox does not exist',
    suspend: null,
  });
  t.match(await asJson('421 4.7.28 Gmail has detected an unusual rate of mail originating from your IP address'), {
    class: 'block',
    action: 'suspend',
    suspend: { for_secs: 3600, scope: 'source' },
  });
  const unavailable = '550 Requested action not taken: mailbox unavailable';
  t.match(await asJson(unavailable), { class: 'soft', rule: 'mailbox-unavailable-alone' });
  t.match(await asJson(unavailable, '--mx', 'mx00.gmx.net'), { class: 'hard', rule: 'gmx-mailbox-unavailable' });
});

t.test('bounce reply for people', async (t) => {
  const { code, stdout } = await runInThisProcess([
    'bounce',
    'reply',
    '554 Client host blocked using zen.spamhaus.org',
  ]);
  t.equal(code, 0);
  t.match(stdout, /class: +block\n/);
  t.match(stdout, /rule: +spamhaus-ip\n/);
  t.match(stdout, /pause: +14400 s, of the source\n/);
});

t.test('bounce reply without a reply', async (t) => {
  t.match(await runInThisProcess(['bounce', 'reply']), { code: 2, stderr: /REPLY is missing/ });
  t.match(await runInThisProcess(['bounce', 'reply', ' ']), { code: 2, stderr: /must not be empty/ });
});
