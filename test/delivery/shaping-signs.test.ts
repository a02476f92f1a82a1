// What an outcome says about the receiver's patience, with replies as they come.
import t from 'tap';
import { noPeer, type SmtpStage } from '../../src/base/outcome.ts';
import { loadBounceRules, SHIPPED_RULES } from '../../src/classify/load-rules.ts';
import type { CourierResult } from '../../src/delivery/courier/messages.ts';
import { judge } from '../../src/delivery/outcome/judge.ts';
import { loadProviderLimits, Providers } from '../../src/delivery/shaping/provider-limits.ts';
import { readSigns, type ShapedAttempt } from '../../src/delivery/shaping/shaping-signs.ts';

const NOW = 1_000_000;
const MINUTE = 60_000;
const rules = loadBounceRules(SHIPPED_RULES);
const NOBODY = { senders: [], recipients: [] };
const providers = new Providers(loadProviderLimits(null));
const ALONE = { others: { open: 0, working: 0, sameHosts: 0 }, delivering: false, earlier: () => null };
const BESIDE = { others: { open: 3, working: 2, sameHosts: 2 } };
const ELSEWHERE = { others: { open: 3, working: 2, sameHosts: 0 } };

interface Said {
  stage?: SmtpStage;
  /** Said instead of a greeting, or to EHLO: no connection came about. */
  atTheDoor?: boolean;
  facts?: Partial<ShapedAttempt>;
}

function signs(code: number | null, text: string, { stage = 'rcpt', atTheDoor = false, facts = {} }: Said = {}) {
  const enhancedCode = /^[45]\.\d+\.\d+/.exec(text)?.[0] ?? null;
  const peer = { ...noPeer(stage, text), mx: 'mx.test', remoteIp: '192.0.2.1', smtpCode: code, enhancedCode };
  const result: CourierResult = atTheDoor ? { kind: 'no_connection', peer } : { kind: 'refused', peer };
  const about = {
    mxGroup: 'mx.test',
    provider: null,
    tenantId: 'acme',
    senderDomain: 'acme.test',
    recipientDomain: 'rcpt.test',
  };
  return readSigns({ ...about, ...ALONE, sourceAddress: null, judgement: judge(result, rules, NOBODY), ...facts }, NOW);
}

t.test('421 and 4.7.x slow a group down; greylisting and trouble with one message do not', async (t) => {
  for (const [code, text] of [
    [421, '4.3.2 System not accepting network messages'],
    [451, '4.7.0 Try later'],
  ] as const) {
    t.match(signs(code, text), { sign: { kind: 'slow_down' }, suspension: null, surplus: false }, text);
  }
  for (const [code, text] of [
    [451, '4.7.1 Greylisting in action, please come back later'],
    [452, '4.2.2 Mailbox full'],
    [550, '5.1.1 User unknown'],
  ] as const) {
    t.match(signs(code, text), { sign: { kind: 'answered' }, suspension: null }, text);
  }
});

t.test('a rule that calls for a pause of the group', async (t) => {
  const { sign, suspension } = signs(421, '4.7.0 Too many messages, slow down', { stage: 'mail' });
  t.match(sign, { kind: 'suspended', until: NOW + MINUTE });
  t.match(suspension, {
    scope: 'group',
    mxGroup: 'mx.test',
    subject: '',
    tenantId: null,
    since: NOW,
    until: NOW + MINUTE,
  });
  t.match(suspension!.reply, /^421 4\.7\.0 Too many messages/);
});

t.test('too many connections: as many as work, and a pause when none does', async (t) => {
  const text = '4.7.0 Too many concurrent SMTP connections';
  const working = signs(421, text, { stage: 'greeting', atTheDoor: true, facts: BESIDE });
  t.match(working, { sign: { kind: 'full', working: 2 }, suspension: null, surplus: true });
  const others = { open: 1, working: 0, sameHosts: 0 };
  const opening = signs(421, text, { stage: 'greeting', atTheDoor: true, facts: { others } });
  t.match(opening, { sign: { kind: 'full', working: 0 }, suspension: null, surplus: true }, 'it may still be let in');
  const late = signs(421, text, { stage: 'mail', facts: BESIDE });
  t.match(late, { sign: { kind: 'full', working: 2 }, suspension: null, surplus: false }, 'the message was tried');
  const alone = signs(421, text, { stage: 'greeting', atTheDoor: true });
  t.match(alone, { sign: { kind: 'suspended' }, suspension: { scope: 'group', until: NOW + MINUTE }, surplus: false });
});

t.test('whatever a temporary refusal at the greeting says, sessions that work go on', async (t) => {
  for (const [code, text] of [
    [421, '4.3.2 <mail.acme.test[192.0.2.1]>: Client host rejected: Service not available, come back later'],
    [450, '4.7.1 Client host rejected: cannot find your hostname, [192.0.2.1]'],
    [421, '4.7.0 Too busy'],
  ] as const) {
    const said = { stage: 'greeting', atTheDoor: true, facts: BESIDE } as const;
    t.match(signs(code, text, said), { sign: { kind: 'full', working: 2 }, suspension: null, surplus: true }, text);
  }
  const refused = signs(554, 'Client host rejected: Access denied', {
    stage: 'greeting',
    atTheDoor: true,
    facts: BESIDE,
  });
  t.match(refused, { suspension: { scope: 'source' }, surplus: false }, 'a verdict');
});

t.test('421 and 450 are no verdict on us: nothing at all, or a pause that begins with a minute', async (t) => {
  for (const text of [
    '4.3.2 <mail.acme.test[192.0.2.1]>: Client host rejected: Service not available, come back later',
    '4.3.2 Service not available, come back later',
  ]) {
    t.match(signs(421, text, { stage: 'greeting', atTheDoor: true }), { sign: { kind: 'closed' }, suspension: null });
  }
  const nameless = '4.7.1 Client host rejected: cannot find your hostname, [192.0.2.1]';
  t.match(signs(450, nameless), { suspension: { scope: 'source', until: NOW + MINUTE } });
  t.match(signs(450, '4.7.1 Error: too much mail from 192.0.2.1', { stage: 'mail' }), {
    suspension: { scope: 'group', until: NOW + MINUTE },
  });
  t.match(signs(550, '5.7.1 Client host rejected: cannot find your hostname, [192.0.2.1]'), {
    suspension: { scope: 'source', until: NOW + 240 * MINUTE },
  });
});

t.test('one temporary refusal of our address, while its mail is delivered over others: no pause', async (t) => {
  const nameless = '4.7.1 Client host rejected: cannot find your hostname, [192.0.2.1]';
  const facts = { ...BESIDE, delivering: true };
  t.match(signs(450, nameless, { facts }), { sign: { kind: 'slow_down' }, suspension: null, surplus: false });
  t.match(signs(450, nameless, { facts: BESIDE }), { suspension: { scope: 'source' } }, 'nothing was delivered');
  t.match(signs(550, nameless.replace('4.7.1', '5.7.1'), { facts }), { suspension: { scope: 'source' } }, 'a verdict');
  const complaints = '4.7.0 [TSS04] Messages from 192.0.2.1 temporarily deferred due to unexpected volume';
  t.match(signs(421, complaints, { facts }), { suspension: { scope: 'source', until: NOW + 60 * MINUTE } });
});

t.test('about a sender domain, or our address: that alone makes a pause', async (t) => {
  const domain = signs(
    421,
    '4.7.28 Gmail has detected an unusual rate of unsolicited mail originating from your DKIM domain [acme.test 36]. To protect our users from spam, mail sent from your domain has been temporarily rate limited.',
    { stage: 'dot' },
  );
  t.match(domain, {
    sign: { kind: 'answered' },
    suspension: { scope: 'sender_domain', tenantId: 'acme', subject: 'acme.test', until: NOW + 60 * MINUTE },
  });
  const text = '5.7.1 Client host [192.0.2.1] blocked using zen.spamhaus.org';
  const address = signs(554, text, { facts: { sourceAddress: '192.0.2.1' } });
  t.match(address, {
    sign: { kind: 'answered' },
    suspension: { scope: 'source', tenantId: null, subject: '192.0.2.1' },
  });
  t.match(signs(554, text), { suspension: { scope: 'source', subject: '' } }, 'the default address');
});

t.test('what a customer of a hoster can write stops nobody else', async (t) => {
  const text =
    '5.7.606 Access denied, banned sending IP [192.0.2.1]. To request removal from this list please visit https://sender.office.com/';
  const facts = { provider: providers.byId('office365'), mxGroup: 'office365', recipientDomain: 'contoso.test' };
  t.match(signs(550, text, { facts }), { suspension: { scope: 'domain', subject: 'contoso.test' } });
  t.match(
    signs(550, text, { facts, stage: 'mail' }),
    { suspension: { scope: 'source' } },
    'before RCPT only the hoster speaks',
  );
  const soft = '4.7.500 Server busy. Please try again later from [192.0.2.1]. (AS77714)';
  t.match(signs(451, soft, { facts }), { suspension: { scope: 'source' } }, 'and so with a temporary refusal');
  const google = { provider: providers.byId('google'), mxGroup: 'google' };
  const reputation =
    '5.7.1 [192.0.2.1 1] Gmail has detected that this message is likely suspicious due to the very low reputation of the sending IP address.';
  t.match(signs(550, reputation, { facts: { ...google, recipientDomain: 'gmail.com' } }), {
    suspension: { scope: 'source' },
  });
  t.match(signs(550, reputation, { facts: { ...google, recipientDomain: 'shop.test' } }), {
    suspension: { scope: 'domain' },
  });
});

t.test('doors: nobody there, or nobody let in', async (t) => {
  t.match(signs(null, 'connect ETIMEDOUT', { stage: 'connect', atTheDoor: true }), { sign: { kind: 'closed' } });
  t.match(signs(554, 'No', { stage: 'greeting', atTheDoor: true }), { sign: { kind: 'closed' } });
  t.match(signs(554, 'No', { stage: 'greeting', atTheDoor: true, facts: BESIDE }), {
    sign: { kind: 'answered' },
  });
});

t.test('silence beside connections that work', async (t) => {
  for (const stage of ['connect', 'greeting'] as const) {
    const said = (facts: Partial<ShapedAttempt>) => signs(null, 'ECONNRESET', { stage, atTheDoor: true, facts });
    t.match(said(BESIDE), { sign: { kind: 'full', working: 2 }, suspension: null, surplus: true }, 'one too many');
    t.same(said(ELSEWHERE), { sign: null, suspension: null, surplus: false }, 'only these hosts are silent');
    t.match(said({}), { sign: { kind: 'closed' }, surplus: false }, 'none beside it');
  }
  const opening = { others: { open: 3, working: 0, sameHosts: 0 } };
  const said = (stage: SmtpStage) => signs(null, 'ECONNRESET', { stage, atTheDoor: true, facts: opening });
  t.match(said('greeting'), { sign: { kind: 'full', working: 0 }, surplus: true }, 'others may still be let in');
  t.match(said('connect'), { sign: { kind: 'closed' }, surplus: false }, 'nobody is there');
});

t.test('findings of our own say nothing', async (t) => {
  const silent = { sign: null, suspension: null, surplus: false };
  t.same(signs(null, 'the handshake failed', { stage: 'starttls', atTheDoor: true }), silent);
  t.same(signs(null, 'connection lost', { stage: 'rcpt' }), silent);
  const peer = noPeer('prepare', '421 4.7.0 too many messages, slow down');
  const about = {
    mxGroup: 'x',
    provider: null,
    tenantId: 'a',
    senderDomain: 'a',
    recipientDomain: 'b',
    sourceAddress: null,
    ...ALONE,
  };
  const own = {
    kind: 'temporary' as const,
    peer,
    reason: 'the courier thread died',
    ambiguous: true,
    retryAfterMs: null,
  };
  t.same(readSigns({ ...about, judgement: own }, NOW), silent);
  t.same(
    readSigns({ ...about, judgement: { ...own, kind: 'permanent', bounce: 'soft', rule: 'no-size' } }, NOW),
    silent,
  );
  t.same(readSigns({ ...about, judgement: { kind: 'unreadable', reason: '421' } }, NOW), silent);
  t.same(
    readSigns(
      { ...about, judgement: judge({ kind: 'no_connection', peer: noPeer('connect', 'no address') }, rules, NOBODY) },
      NOW,
    ),
    silent,
  );
});
