// Work on one mail: what it comes to, who is told, and when it is given up.
import t from 'tap';
import { MailWork, type MailWorkKit, type Recorded } from '../../src/inbound/mail-work.ts';
import type { ProcessedMail } from '../../src/inbound/process-mail.ts';
import { silentLogger } from '../../src/observe/log.ts';
import type { InboundUpdate, InboundVerdict, WaitingInboundMail } from '../../src/store/inbound.ts';
import { Ownership } from '../../src/store/ownership.ts';

const VERDICT: InboundVerdict = {
  kind: 'human',
  effect: 'kept',
  reason: 'because',
  digest: null,
  messageId: null,
  tenantId: null,
  finding: {},
};
const DONE: ProcessedMail = { kind: 'done', update: { verdict: VERDICT, action: null }, message: null };
const OWNER = { slot: 2, epoch: 5 };
const MAIL = { id: 'mail', seq: 7, slot: 2, remoteIp: '192.0.2.1' } as WaitingInboundMail;

function setUp(change: Partial<MailWorkKit> = {}) {
  const updates: InboundUpdate[] = [];
  const recorded: Recorded[] = [];
  const work = new MailWork({
    store: {
      inbound: {
        async recordInbound(update) {
          updates.push(update);
          return { kind: 'recorded', effect: 'kept', reason: update.verdict.reason };
        },
      },
    },
    ownership: new Ownership([OWNER]),
    process: async () => DONE,
    onRecorded: (each) => void recorded.push(each),
    clock: { now: () => 1000 },
    log: silentLogger,
    ...change,
  });
  return { work, updates, recorded };
}

t.test('a mail that is processed is recorded, then told of', async (t) => {
  const { work, updates, recorded } = setUp();
  t.same(await work.workOn(MAIL, true), { kind: 'done' });
  t.match(updates, [{ seq: 7, at: 1000, owner: OWNER, verdict: VERDICT, action: null }]);
  t.match(recorded, [{ mail: { id: 'mail' }, result: { effect: 'kept', reason: 'because' } }]);
});

t.test('a result that changed nothing is told to nobody', async (t) => {
  for (const why of ['processed', 'not_owner'] as const) {
    const lines: string[] = [];
    const log = { ...silentLogger, info: (_: unknown, text: string) => void lines.push(text) };
    const store = { inbound: { recordInbound: async () => ({ kind: 'unchanged', why }) as const } };
    const { work, recorded } = setUp({ store, log });
    t.same(await work.workOn(MAIL, true), { kind: 'done' });
    t.same(recorded, []);
    t.match(lines, [/result for an inbound mail was dropped/]);
  }
});

t.test('a mail in the slot of another node is not processed', async (t) => {
  const process = async () => t.fail('it was processed');
  const { work, recorded } = setUp({ process: process as unknown as MailWorkKit['process'] });
  t.same(await work.workOn({ ...MAIL, slot: 3 }, true), { kind: 'done' });
  t.same(recorded, []);
});

t.test('a mail that must wait is not recorded', async (t) => {
  const asked: boolean[] = [];
  const process = async (_: WaitingInboundMail, mayDefer: boolean): Promise<ProcessedMail> => {
    asked.push(mayDefer);
    return { kind: 'later', reason: 'the delivery is not on record yet' };
  };
  const { work, updates } = setUp({ process });
  t.same(await work.workOn(MAIL, true), { kind: 'later' });
  await work.workOn(MAIL, false);
  t.same([asked, updates], [[true, false], []]);
});

t.test('a store that takes no note is to blame, and nobody is told', async (t) => {
  const error = new Error('disk');
  const { work, recorded } = setUp({ store: { inbound: { recordInbound: () => Promise.reject(error) } } });
  t.same(await work.workOn(MAIL, true), { kind: 'failed', error, storeFails: true });
  t.same(recorded, []);
});

t.test('a mail that cannot be processed is given up at the tenth time', async (t) => {
  const error = new TypeError('a bug of ours');
  const { work, updates } = setUp({ process: () => Promise.reject(error) });
  for (let fault = 1; fault < 10; fault++) {
    t.same(await work.workOn(MAIL, true), { kind: 'failed', error, storeFails: false });
  }
  t.same(updates, []);
  t.same(await work.workOn(MAIL, true), { kind: 'done' });
  t.match(updates, [{ verdict: { kind: 'unreadable', effect: 'kept', reason: /10 times: .*a bug of ours/ } }]);
});
