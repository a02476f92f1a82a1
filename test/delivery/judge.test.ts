// From what was seen to what it means. Unknown means temporary.
import t from 'tap';
import { noPeer, type PeerFacts, type SmtpStage } from '../../src/base/outcome.ts';
import { loadBounceRules, SHIPPED_RULES } from '../../src/classify/load-rules.ts';
import type { CourierResult } from '../../src/delivery/courier/messages.ts';
import { judge as judgeBy, partiesOf } from '../../src/delivery/outcome/judge.ts';

const rules = loadBounceRules(SHIPPED_RULES);
const parties = { senders: ['shop@acme.test', 'acme.test', 'bounces.test'], recipients: ['ann@rcpt.test'] };
const judge = (result: CourierResult) => judgeBy(result, rules, parties);

function said(
  stage: SmtpStage,
  smtpCode: number | null,
  response: string,
  enhancedCode: string | null = null,
): PeerFacts {
  return { ...noPeer(stage, response), mx: 'mx.test', remoteIp: '192.0.2.1', smtpCode, enhancedCode };
}

t.test('accepted', async (t) => {
  const peer = said('dot', 250, 'ok');
  t.same(judge({ kind: 'accepted', peer }), { kind: 'delivered', peer });
});

t.test('refused: the first digit decides', async (t) => {
  for (const code of [400, 421, 450, 452, 499]) {
    const judgement = judge({ kind: 'refused', peer: said('rcpt', code, 'no') });
    t.match(
      judgement,
      { kind: 'temporary', ambiguous: false, retryAfterMs: null, reason: 'mx.test said: no' },
      `${code}`,
    );
  }
  for (const code of [500, 550, 554, 571]) {
    t.match(
      judge({ kind: 'refused', peer: said('rcpt', code, 'no') }),
      { kind: 'permanent', bounce: 'soft' },
      `${code}`,
    );
  }
  const unknown = said('rcpt', 550, 'user unknown', '5.1.1');
  t.match(judge({ kind: 'refused', peer: unknown }), { kind: 'permanent', bounce: 'hard', peer: unknown });
  t.match(judge({ kind: 'refused', peer: said('rcpt', null, 'gibberish') }), { kind: 'temporary' });
});

t.test('what is said at MAIL is never about the recipient', async (t) => {
  const peer = said('mail', 550, 'user unknown', '5.1.1');
  t.match(judge({ kind: 'refused', peer }), { kind: 'permanent', bounce: 'block' });
  t.match(judge({ kind: 'refused', peer: { ...peer, stage: 'dot' } }), { kind: 'permanent', bounce: 'hard' });
});

t.test('a refusal that names only our own address or domain is about the sender', async (t) => {
  const kindOf = (response: string, recipient = 'ann@rcpt.test') => {
    const refused = { kind: 'refused', peer: said('rcpt', 550, response) } as const;
    const judgement = judgeBy(refused, rules, partiesOf({ ...MESSAGE, recipient }, 'bounces.test'));
    return judgement.kind === 'permanent' ? judgement.bounce : judgement.kind;
  };
  const MESSAGE = { from: 'shop@acme.test', fromDomain: 'acme.test' };
  for (const response of [
    '5.1.0 <b123@bounces.test>: User unknown',
    'shop@acme.test: no such user',
    'verify shop@acme.test: mailbox does not exist',
    'Callback to b1@bounces.test failed: no such user',
    'Callback to b1@bounces.acme.test failed: no such user',
    'Domain acme.test does not exist (From)',
  ]) {
    t.equal(kindOf(response), 'block', response);
  }
  t.equal(kindOf('<ann@rcpt.test>: no such user (shop@acme.test wrote)'), 'hard');
  t.equal(kindOf('<ann@acme.test>: no such user', 'ann@acme.test'), 'hard');
  t.equal(kindOf('Domain acme.test does not exist', 'ann@acme.test'), 'hard');
  t.equal(kindOf('shop@acme.test: no such user', 'ann@acme.test'), 'block');
});

t.test('what decided stands in the reason', async (t) => {
  const refused = judge({ kind: 'refused', peer: said('rcpt', 550, 'user unknown', '5.1.1') });
  t.match(refused, {
    rule: 'no-such-mailbox',
    reason: 'mx.test said: user unknown (no_mailbox, rule no-such-mailbox)',
  });
  const listed = said('greeting', 554, 'Client host [192.0.2.1] blocked using zen.spamhaus.org');
  t.match(judge({ kind: 'no_connection', peer: listed }), {
    reason: /\(ip_reputation, rule dns-block-list; calls for a pause of 240 min of the source\)$/,
  });
});

t.test('a rule can know better than the first digit', async (t) => {
  const greylisted = said('rcpt', 550, 'Greylisted, try again in 5 minutes');
  t.match(judge({ kind: 'refused', peer: greylisted }), { kind: 'temporary', retryAfterMs: 300_000 });
  const tooLarge = said('mail', 452, 'Message size exceeds file system imposed limit', '4.3.4');
  t.match(judge({ kind: 'refused', peer: tooLarge }), { kind: 'permanent', bounce: 'soft' });
  const tooFast = said('rcpt', 550, 'Domain frequency limited');
  t.match(judge({ kind: 'refused', peer: tooFast }), { kind: 'temporary' }, 'a message whose sender pauses is kept');
});

t.test('a delay named in a refusal, or in a greeting', async (t) => {
  const peer = said('rcpt', 450, 'Greylisted, try again in 10 minutes');
  t.match(judge({ kind: 'refused', peer }), { retryAfterMs: 600_000 });
  t.match(judge({ kind: 'no_connection', peer: { ...peer, stage: 'greeting', smtpCode: 421 } }), {
    retryAfterMs: 600_000,
  });
  const own = said('connect', null, 'no connection within 30 s, try again in 10 minutes');
  t.match(judge({ kind: 'no_connection', peer: own }), { retryAfterMs: null }, 'only what a server said counts');
});

t.test('lost: ambiguous only after the final dot', async (t) => {
  const peer = said('data', null, 'connection closed');
  t.match(judge({ kind: 'lost', peer, afterDot: false }), { kind: 'temporary', ambiguous: false });
  t.match(judge({ kind: 'lost', peer, afterDot: true }), {
    kind: 'temporary',
    ambiguous: true,
    reason: /may have arrived/,
  });
});

t.test('no connection is temporary whatever the greeting said', async (t) => {
  for (const code of [null, 421, 554]) {
    t.match(judge({ kind: 'no_connection', peer: said('greeting', code, 'no') }), {
      kind: 'temporary',
      ambiguous: false,
    });
  }
});

t.test('what a server cannot take', async (t) => {
  const codes = { smtputf8: '5.6.7', eightbit: '5.6.3', size: '5.3.4' } as const;
  for (const [need, enhancedCode] of Object.entries(codes) as [keyof typeof codes, string][]) {
    const judgement = judge({ kind: 'unsupported', need, peer: said('mail', null, 'not offered') });
    t.match(judgement, { kind: 'permanent', bounce: 'soft', peer: { enhancedCode }, reason: 'mx.test: not offered' });
  }
});

t.test('unreadable stays unreadable', async (t) => {
  t.same(judge({ kind: 'unreadable', reason: 'why' }), { kind: 'unreadable', reason: 'why' });
});
