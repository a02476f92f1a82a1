// A message's spans: which trace they belong to, how they hang together, and what is not in them.
import t from 'tap';
import { systemClock } from '../../../src/base/clock.ts';
import { IdSource } from '../../../src/base/ids.ts';
import { acceptObserver, callObserver, recordObserver } from '../../../src/daemon/open-traces.ts';
import { MailTraces, type TracedAttempt } from '../../../src/observe/traces/mail-traces.ts';
import type { OtlpSpan } from '../../../src/observe/traces/otlp.ts';
import { readTraceParent } from '../../../src/observe/traces/trace-context.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';
const ids = new IdSource();
const MESSAGE = { id: ids.next(), tenantId: 't1', submissionId: 's1', recipientDomain: 'receiver.test' };
const ACCEPTED = { messages: [MESSAGE], source: 'http', sendAt: null, startedAt: 1000, endedAt: 1003 } as const;
const ATTEMPT: TracedAttempt = {
  message: MESSAGE,
  attempt: 1,
  dueAt: 1000,
  startedAt: 1010,
  endedAt: 1050,
  outcome: 'delivered',
  mxGroup: 'receiver.test',
  peer: { stage: 'dot', smtpCode: 250, enhancedCode: '2.0.0', tls: 'TLSv1.3' },
  stages: [],
};

function open({ share = 1, followsCallers = true } = {}) {
  const spans: OtlpSpan[] = [];
  const traces = new MailTraces({ add: (span) => void spans.push(span) }, { share, followsCallers });
  const named = (name: string) => spans.filter((span) => span.name === name);
  return { traces, spans, named };
}

const ms = (span: OtlpSpan | undefined) =>
  [span?.startTimeUnixNano, span?.endTimeUnixNano].map((nanos) => Number(nanos) / 1e6);

t.test('a traceparent is read as W3C says', async (t) => {
  const read = (text: string) => readTraceParent(text);
  t.same(read(`00-${TRACE}-${SPAN}-01`), { traceId: TRACE, parentId: SPAN, sampled: true });
  t.same(read(`00-${TRACE}-${SPAN}-00`)?.sampled, false);
  t.same(read(`00-${TRACE}-${SPAN}-ff`)?.sampled, true, 'unknown flags are ignored');
  t.ok(read(`cc-${TRACE}-${SPAN}-01-what-the-future-brings`), 'a later version may have more');
  for (const wrong of [
    '',
    `ff-${TRACE}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-01-more`,
    `00-${TRACE}-${SPAN}`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `cc-${TRACE}-${SPAN}-01.more`,
    'x'.repeat(10_000),
  ]) {
    t.equal(read(wrong), null, wrong.slice(0, 80));
  }
  t.equal(readTraceParent(undefined), null);
});

t.test('without one, all spans of a message are in the trace of its ID', async (t) => {
  const [first, later] = [open(), open()];
  first.traces.accepted({ ...ACCEPTED, traceParent: undefined });
  later.traces.attempted(ATTEMPT); // another process, after a restart
  const [accept] = first.named('accept');
  t.notOk('parentSpanId' in accept!, 'it is the root');
  t.equal(accept?.traceId, MESSAGE.id.replaceAll('-', ''));
  for (const span of later.spans) t.equal(span.traceId, accept!.traceId, span.name);
  t.equal(later.named('attempt')[0]!.parentSpanId, accept!.spanId);
  t.equal(new Set(later.spans.map(({ spanId }) => spanId)).size, later.spans.length);
});

t.test('with one, they continue the caller’s trace', async (t) => {
  const { traces, spans, named } = open({ share: 0 });
  traces.accepted({ ...ACCEPTED, traceParent: `00-${TRACE}-${SPAN}-01` });
  traces.attempted(ATTEMPT);
  t.equal(named('accept')[0]?.parentSpanId, SPAN);
  t.same([...new Set(spans.map(({ traceId }) => traceId))], [TRACE], 'whatever the share is');
  traces.accepted({ ...ACCEPTED, messages: [{ ...MESSAGE, id: ids.next() }], traceParent: `00-${TRACE}-${SPAN}-00` });
  t.equal(named('accept').length, 1, 'not if the caller does not record it');
  const careful = open({ followsCallers: false });
  careful.traces.accepted({ ...ACCEPTED, traceParent: `00-${TRACE}-${SPAN}-01` });
  careful.traces.accepted({
    ...ACCEPTED,
    messages: [{ ...MESSAGE, id: ids.next() }],
    traceParent: `00-${TRACE}-${SPAN}-00`,
  });
  t.equal(careful.named('accept').length, 2, 'a stranger decides nothing');
  for (const span of careful.spans) t.ok(span.traceId !== TRACE && span.parentSpanId === undefined);
});

t.test('the share decides by message, for all of its spans', async (t) => {
  const { traces, spans } = open({ share: 0.25 });
  for (let count = 0; count < 2000; count++) {
    const message = { ...MESSAGE, id: ids.next() };
    traces.accepted({ ...ACCEPTED, messages: [message], traceParent: undefined });
    traces.attempted({ ...ATTEMPT, message });
  }
  const traced = new Map<string, number>();
  for (const { traceId } of spans) traced.set(traceId, (traced.get(traceId) ?? 0) + 1);
  t.ok(traced.size > 400 && traced.size < 600, `${traced.size} of 2000`);
  t.same([...new Set(traced.values())], [3], 'accept, wait, attempt');
});

t.test('it waits from acceptance, then from the end of the last attempt', async (t) => {
  const { traces, named } = open();
  traces.attempted({ ...ATTEMPT, outcome: 'deferred' });
  traces.attempted({ ...ATTEMPT, attempt: 2, startedAt: 5000, endedAt: 5100 });
  t.same(named('wait').map(ms), [
    [1000, 1010],
    [1050, 5000],
  ]);
  traces.attempted({ ...ATTEMPT, attempt: 3, startedAt: 9000, endedAt: 9100 });
  t.equal(named('wait').length, 2, 'unknown since when, as after a restart');
});

t.test('an attempt has the stages of its session, up to the one that failed', async (t) => {
  const { traces, spans, named } = open();
  const stages = [['connect', 1015] as const, ['greeting', 1020] as const, ['mail', 1030] as const].map(
    ([stage, at]): [typeof stage, number] => [stage, at],
  );
  const peer = { stage: 'rcpt' as const, smtpCode: 450, enhancedCode: '4.2.0', tls: null };
  traces.attempted({ ...ATTEMPT, outcome: 'deferred', stages, peer });
  const [attempt] = named('attempt');
  t.same(attempt?.status, { code: 2, message: 'deferred at rcpt: 450 4.2.0' });
  const inside = spans.filter(({ parentSpanId }) => parentSpanId === attempt!.spanId);
  t.same(
    inside.map((span) => [span.name, ...ms(span), span.status.code ?? 0]),
    [
      ['smtp connect', 1010, 1015, 0],
      ['smtp greeting', 1015, 1020, 0],
      ['smtp mail', 1020, 1030, 0],
      ['smtp rcpt', 1030, 1050, 2],
    ],
  );
});

t.test('one that never had a session has no stages', async (t) => {
  const { traces, spans } = open();
  traces.attempted({ ...ATTEMPT, outcome: 'parked', peer: null });
  t.same(
    spans.map(({ name }) => name),
    ['wait', 'attempt'],
  );
  t.equal(spans[1]?.status.message, 'parked');
});

t.test('a clock that is set back makes no span of negative length', async (t) => {
  const { traces, spans } = open();
  traces.attempted({ ...ATTEMPT, startedAt: 900, endedAt: 800, stages: [['connect', 700]] });
  for (const span of spans) {
    const [from, to] = ms(span);
    t.ok(to! >= from!, span.name);
  }
  t.notOk(spans.some(({ name }) => name === 'wait'));
});

t.test('off, the parts of the daemon have nothing to call', async (t) => {
  t.same(acceptObserver({ traces: null, clock: systemClock }), {});
  t.same(recordObserver(null), {});
  t.same(callObserver(null), {});
});
