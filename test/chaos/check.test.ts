// The checks of a chaos run find each way to break a promise, and nothing in a run that kept all.
import t from 'tap';
import { check, type Findings, hasFailed, type Witness } from './check.ts';
import type { Facts, StoredMessage } from './store-under-test.ts';

function message(id: string, fate: string, change: Partial<StoredMessage> = {}): [string, StoredMessage] {
  const recipient = `${fate}-${id}@receiver.test`;
  const usual = {
    state: 'delivered',
    attempts: 1,
    attemptNumbers: [1],
    complained: false,
    events: ['email.delivered'],
  };
  return [id, { id, submissionId: `s-${id}`, recipient, ...usual, ...change }];
}

/** A mail that was delivered, one that was refused, one that bounced later, one that was complained about. */
function world() {
  const bounced = { state: 'bounced', events: ['email.bounced'] };
  const facts = {
    damage: null,
    messages: new Map([
      message('m1', 'plain'),
      message('m2', 'gone', bounced),
      message('m3', 'late', { state: 'bounced', events: ['email.delivered', 'email.bounced'] }),
      message('m4', 'spam', { complained: true, events: ['email.delivered', 'email.complained'] }),
    ]),
    ofOthers: new Set<string>(),
    events: new Map([['e1', { type: 'email.delivered', messageId: 'm1' }]]),
    submissionsByKey: new Map([['k1', ['s1']]]),
    inboundKept: new Map(),
    unreadable: 0,
    oddWrittenMails: [] as string[],
    leftovers: 0,
    oddWebhookAttempts: [],
  } satisfies Facts;
  const witness = {
    promised: new Set(['m1', 'm2', 'm3']),
    queued: new Map([['s-m4', ['spam-m4@receiver.test']]]),
    submissions: new Map([['k1', new Set(['s1'])]]),
    receiver: {
      times: new Map(['m1', 'm3', 'm4'].map((id) => [id, 1])),
      idsByRecipient: new Map([['plain-m1@receiver.test', new Set(['m1'])]]),
      altered: [] as string[],
    },
    inFlight: new Map<string, number>(),
    reports: new Map<string, 'dsn' | 'arf'>([
      ['m3', 'dsn'],
      ['m4', 'arf'],
    ]),
    endpoints: [{ url: 'http://hook.test/', received: new Map([['e1', 1]]) }],
  } satisfies Witness;
  return { facts, witness };
}

type World = ReturnType<typeof world>;

t.notOk(hasFailed(check(world().witness, world().facts)), 'nothing is found where nothing is wrong');

const FAULTS: [string, keyof Findings, (world: World) => void][] = [
  [
    'a promised message is not in the store',
    'lost',
    ({ facts, witness }) => {
      facts.messages.delete('m2');
      witness.receiver.times.delete('m2');
    },
  ],
  ['it arrived, and is not in the store', 'lost', ({ witness }) => witness.receiver.times.set('m9', 1)],
  ['it is delivered, and never arrived', 'lost', ({ witness }) => witness.receiver.times.delete('m1')],
  [
    'a reply at the SMTP door named another submission',
    'lost',
    ({ facts }) => Object.assign(facts.messages.get('m4')!, { submissionId: 's-m9' }),
  ],
  ['one recipient was left out', 'lost', ({ witness }) => witness.queued.get('s-m4')!.push('plain-m5@receiver.test')],
  ['a body is not what it was', 'altered', ({ witness }) => witness.receiver.altered.push('m1')],
  ['a piece is missing', 'altered', ({ facts }) => facts.oddWrittenMails.push('s-m4')],
  ['pieces of a mail that was cut off stay', 'other', ({ facts }) => Object.assign(facts, { leftovers: 3 })],
  ['it is still queued', 'lost', ({ facts }) => Object.assign(facts.messages.get('m1')!, { state: 'queued' })],
  ['it failed without a reason', 'lost', ({ facts }) => Object.assign(facts.messages.get('m1')!, { state: 'failed' })],
  ['a bounce changed nothing', 'withoutEffect', ({ facts }) => facts.messages.get('m3')!.events.pop()],
  [
    'a complaint took effect twice',
    'withoutEffect',
    ({ facts }) => facts.messages.get('m4')!.events.push('email.complained'),
  ],
  ['a second delivery without a kill', 'twice', ({ witness }) => witness.receiver.times.set('m1', 2)],
  ['two submissions of one key', 'submittedTwice', ({ witness }) => witness.submissions.get('k1')!.add('s2')],
  [
    'two messages for one recipient',
    'submittedTwice',
    ({ facts }) => {
      facts.messages.get('m4')!.recipient = facts.messages.get('m1')!.recipient;
    },
  ],
  ['an event that no webhook got', 'events', ({ witness }) => witness.endpoints[0]!.received.clear()],
  ['an event that is not in the store', 'events', ({ witness }) => witness.endpoints[0]!.received.set('e2', 1)],
  ['a delivery without its event', 'events', ({ facts }) => facts.messages.get('m1')!.events.pop()],
  ['an attempt too few', 'attempts', ({ facts }) => facts.messages.get('m1')!.attemptNumbers.pop()],
  ['an attempt too many', 'attempts', ({ facts }) => facts.messages.get('m1')!.attemptNumbers.push(2)],
];

for (const [name, finding, fault] of FAULTS) {
  t.test(name, async (t) => {
    const { facts, witness } = world();
    fault({ facts, witness });
    t.equal(check(witness, facts)[finding].length, 1);
  });
}

t.test("what arrives of another tenant is in the store as another tenant's", async (t) => {
  const { facts, witness } = world();
  witness.receiver.times.set('m9', 1);
  facts.ofOthers.add('m9');
  t.notOk(hasFailed(check(witness, facts)));
});

t.test('a kill explains a second delivery, and an attempt without a record', async (t) => {
  const { facts, witness } = world();
  witness.receiver.times.set('m1', 2);
  witness.inFlight.set('m1', 1);
  Object.assign(facts.messages.get('m1')!, { attempts: 2, attemptNumbers: [2] });
  t.notOk(hasFailed(check(witness, facts)));
});
