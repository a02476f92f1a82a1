// What a limit pauses: only what it is about. A pause of the whole group stops every tenant's mail to it, so a limit
// of one sender, one mailbox or one message must not cause it. None of these replies is a sample of a rule.
import t, { type Test } from 'tap';
import type { SuspendScope } from '../../src/classify/bounce-rule.ts';
import { classifyReply } from '../../src/classify/classify-reply.ts';
import type { Label } from '../../src/classify/labels.ts';
import { loadBounceRules, SHIPPED_RULES } from '../../src/classify/load-rules.ts';
import { readReply } from '../../src/classify/read-reply.ts';

const rules = loadBounceRules(SHIPPED_RULES);

type Limit = [reply: string, label: Label, paused: SuspendScope | null];

function check(t: Test, limits: readonly Limit[]): void {
  for (const [reply, label, paused] of limits) {
    const verdict = classifyReply({ ...readReply(reply), stage: 'rcpt' }, rules);
    t.same([verdict.label, verdict.suspend?.scope ?? null], [label, paused], `${reply}: ${verdict.rule}`);
    t.not(verdict.action, 'give_up', reply);
  }
}

t.test('a limit that gives its reason belongs to the rule about the reason', async (t) => {
  check(t, [
    ['421 4.7.27 Mail rate limited because SPF of acme.test did not pass', 'auth_failed', null],
    ['421 4.7.30 Messages are throttled due to failed DKIM checks', 'auth_failed', null],
    ['421 4.7.26 Throttled due to missing authentication of the message', 'auth_failed', null],
    ['421 4.7.40 Deferred because DMARC of the domain did not pass', 'dmarc_policy', null],
    ['421 4.7.29 Rate limited because this message came without TLS: TLS is required', 'tls_required', null],
    ['421 4.7.23 Rate limited because the client has no reverse DNS name', 'reverse_dns', 'source'],
    ['421 4.7.1 Throttled: the sending domain acme.test has a bad reputation', 'domain_reputation', null],
  ]);
});

t.test('a limit of a domain pauses the mail of that domain', async (t) => {
  check(t, [
    ['451 4.7.1 rate limit of the sending domain exceeded', 'rate_limited', 'sender_domain'],
    ['451 4.7.1 Limit for your domain reached, slow down', 'rate_limited', 'sender_domain'],
    [
      '421 4.7.28 We see an unusual rate of mail containing one of your URL domains',
      'domain_reputation',
      'sender_domain',
    ],
  ]);
});

t.test('a limit of one mailbox, one message or one session pauses nothing', async (t) => {
  check(t, [
    ['450 4.2.1 Rate limit for this mailbox reached, try later', 'rate_limited', null],
    ['451 4.7.1 The mailbox of ann@rcpt.test has exceeded its hourly limit', 'rate_limited', null],
    ['450 4.7.1 ann@rcpt.test receives too many messages per hour', 'rate_limited', null],
    ['451 4.7.1 A message with the same subject was sent too many times', 'rate_limited', null],
    ['421 4.7.0 mx.rcpt.test Error: too many protocol errors, closing', 'temporary_failure', null],
    ['550 Too many syntax errors in this session', 'temporary_failure', null],
  ]);
});

t.test('a limit of our address pauses it, and not the group', async (t) => {
  check(t, [
    ['421 4.7.0 Mail from your IP 192.0.2.7 is being throttled', 'rate_limited', 'source'],
    ['450 4.7.1 Rate limit of your IP address exceeded', 'rate_limited', 'source'],
    ['421 4.7.0 This host is rate limited', 'rate_limited', 'source'],
    ['421 4.7.0 Your IP has a bad reputation and is throttled', 'ip_reputation', 'source'],
    ['550 5.7.1 Too many unknown recipients from your address', 'ip_reputation', 'source'],
  ]);
});

t.test("a block list's name may be a possessive", async (t) => {
  const said = '553 5.7.1 [BL23] Nothing is accepted from 192.0.2.7, since it is on Spamhaus’s list';
  const stage = 'mail';
  t.match(classifyReply({ ...readReply(said), stage }, rules), {
    label: 'ip_reputation',
    suspend: { scope: 'source' },
  });
});

t.test('a limit without a reason, or because of the amount, pauses the group', async (t) => {
  check(t, [
    ['451 4.7.1 Throttled due to high volume', 'rate_limited', 'group'],
    ['451 4.7.1 Rate limited because of too many messages', 'rate_limited', 'group'],
    ['421 4.7.0 Rate limit exceeded', 'rate_limited', 'group'],
  ]);
});
