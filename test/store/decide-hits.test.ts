// Which fetches of a message become events, and what time says about who made them.
import t from 'tap';
import { decideHits } from '../../src/store/sql/verbs/message/decide-hits.ts';
import type { LinkHits, NewHits, TrackedMessage } from '../../src/store/tracking.ts';

const T0 = Date.UTC(2026, 10, 22, 12);
const MINUTE = 60_000;
const timing = { beforeDeliveryMs: 1000, burstLinks: 3, burstWithinMs: 5000, burstAfterDeliveryMs: 5 * MINUTE };

function message(change: Partial<TrackedMessage> = {}): TrackedMessage {
  return {
    ...{ id: 'm', tenantId: 't', submissionId: 's', from: 'a@acme.test', fromDomain: 'acme.test', labels: null },
    ...{ recipient: 'jo@x.test', subject: 'Hello', state: 'delivered', finishedAt: T0, attempts: 1, links: [] },
    ...change,
  };
}

function fetched(link: number | null, at: number, change: Partial<NewHits> = {}): NewHits {
  const shown = { at, ip: '192.0.2.1', userAgent: 'Firefox', machineReason: null };
  return {
    link,
    url: link === null ? '' : `https://x.test/${link}`,
    hits: 1,
    linkCount: link === null ? 0 : 9,
    firstAt: at,
    lastAt: at,
    shown,
    eventId: 'an id',
    ...change,
  };
}

function before(link: number | null, change: Partial<LinkHits> = {}): LinkHits {
  return { link, hits: 1, events: 1, lastAt: T0, lastEventAt: T0, ...change };
}

/** What the events say, in their order; null where there is none. */
function told(about: TrackedMessage, pending: NewHits[]) {
  return decideHits(about, pending, timing).map(({ event }) => event && { ...event.data.open!, ...event.data.click! });
}

t.test('the first open and the first click', async (t) => {
  const [open, click] = decideHits(message(), [fetched(1, T0 + MINUTE + 1), fetched(null, T0 + MINUTE)], timing);
  const common = {
    ...{
      message_id: 'm',
      submission_id: 's',
      from: 'a@acme.test',
      to: 'jo@x.test',
      subject: 'Hello',
      domain: 'acme.test',
    },
  };
  const seen = { first: true, ip: '192.0.2.1', user_agent: 'Firefox', machine: false };
  t.strictSame(open, {
    ...{ link: null, hits: 1, firstAt: T0 + MINUTE, lastAt: T0 + MINUTE },
    event: {
      id: 'an id',
      type: 'email.opened',
      at: T0 + MINUTE,
      data: { ...common, open: { ...seen, machine_reason: null } },
    },
  });
  t.strictSame(click!.event, {
    ...{ id: 'an id', type: 'email.clicked', at: T0 + MINUTE + 1 },
    data: { ...common, click: { url: 'https://x.test/1', link_index: 1, ...seen } },
  });
});

t.test('one event per link and minute', async (t) => {
  const known = message({ links: [before(0, { lastEventAt: T0 + MINUTE })] });
  t.strictSame(told(known, [fetched(0, T0 + 2 * MINUTE - 1, { hits: 40 })]), [null]);
  t.match(told(known, [fetched(0, T0 + 2 * MINUTE)]), [{ first: false }]);
  t.match(told(known, [fetched(1, T0 + MINUTE + 1)]), [{ first: true }], 'another link');
  const [counted] = decideHits(known, [fetched(0, T0 + MINUTE + 1, { hits: 40 })], timing);
  t.match(counted, { hits: 40, event: null }, 'the others are counted');
});

t.test('a hundred events of a message in all', async (t) => {
  const at = T0 + 1000 * MINUTE;
  const known = message({ links: [before(null, { events: 60 }), before(0, { events: 39 })] });
  const updates = decideHits(known, [fetched(2, at + 1), fetched(1, at), fetched(0, at + 2)], timing);
  t.strictSame(
    updates.map(({ link, event }) => [link, event !== null]),
    [
      [1, true],
      [2, false],
      [0, false],
    ],
    'in the order of time',
  );
});

t.test('a rule tells a machine', async (t) => {
  const machineReason = 'A program.';
  const shown = { at: T0 + MINUTE, ip: '', userAgent: null, machineReason };
  t.match(told(message(), [fetched(null, T0 + MINUTE, { shown })]), [
    { machine: true, machine_reason: machineReason, ip: null, user_agent: null },
  ]);
  const [click] = told(message(), [fetched(0, T0 + MINUTE, { shown })]);
  t.match(click, { machine: true });
  t.notOk('machine_reason' in click!, 'a click has no room for it');
});

t.test('what comes before the delivery', async (t) => {
  const reason = 'The receiving server had not accepted the message yet.';
  t.match(told(message(), [fetched(null, T0 - 1000)]), [{ machine: true, machine_reason: reason }]);
  t.match(told(message(), [fetched(0, T0 - 1000)]), [{ machine: true }]);
  t.match(
    told(message(), [fetched(0, T0 - 999)]),
    [{ machine: false }],
    'its answer takes a moment to be written down',
  );
  t.match(told(message(), [fetched(0, T0 + 1)]), [{ machine: false }], 'people wait for some mails');
  t.match(told(message({ state: 'sending', finishedAt: null }), [fetched(null, T0)]), [{ machine: true }]);
  const again = { attempts: 2 };
  t.match(
    told(message(again), [fetched(null, T0 - 5000)]),
    [{ machine: false }],
    'an earlier attempt may have arrived',
  );
  t.match(told(message({ ...again, state: 'sending', finishedAt: null }), [fetched(0, T0)]), [{ machine: false }]);
  t.match(told(message({ state: 'deferred', finishedAt: null }), [fetched(0, T0)]), [{ machine: false }]);
});

t.test('bursts', async (t) => {
  const at = T0 + MINUTE;
  const three = [fetched(0, at), fetched(1, at + 10), fetched(2, at + 20)];
  t.match(told(message(), three), [{ machine: true }, { machine: true }, { machine: true }]);
  t.match(told(message(), three.slice(1)), [{ machine: false }, { machine: false }], 'two of nine');
  const both = [fetched(0, at, { linkCount: 2 }), fetched(1, at + 10, { linkCount: 2 })];
  t.match(told(message(), both), [{ machine: true }, { machine: true }], 'all there are');
  t.match(told(message(), [fetched(0, T0 + 1, { linkCount: 1 })]), [{ machine: false }], 'the only one');
  const earlier = message({ links: [before(0, { lastAt: at - 4000 }), before(1, { lastAt: at - 4990 })] });
  t.match(told(earlier, [fetched(2, at)]), [{ machine: true }], 'those before count');
  t.match(told(earlier, [fetched(2, at + 1000)]), [{ machine: false }], 'not for long');
  t.match(told(earlier, [fetched(1, at)]), [{ machine: false }], 'different links are meant');
  const late = three.map((hits) => fetched(hits.link, hits.firstAt + 5 * MINUTE));
  t.match(told(message(), late), [{ machine: false }, { machine: false }, { machine: false }]);
  const opened = message({ links: [before(null, { lastAt: at })] });
  t.match(told(opened, three.slice(1)), [{ machine: false }, { machine: false }], 'the pixel is no link');
});
