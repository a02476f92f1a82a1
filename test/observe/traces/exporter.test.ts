// Spans reach a real receiver, or are counted as lost: in batches, again after a failure, and never for ever.
import t, { type Test } from 'tap';
import type { Facts } from '../../../src/observe/log.ts';
import { TraceExporter } from '../../../src/observe/traces/exporter.ts';
import { toOtlp } from '../../../src/observe/traces/otlp.ts';
import { findFreePort } from '../../support/free-port.ts';
import { accept, startOtlpReceiver } from '../../support/otlp-receiver.ts';
import { patience } from '../../support/patience.ts';
import { until } from '../../support/until.ts';

interface Setting {
  stepsMs?: readonly number[];
  answerTimeoutMs?: number;
  maxQueued?: number;
}

function openExporter(t: Test, origin: string, setting: Setting = {}) {
  const count = { exported: 0, dropped: 0 };
  const lines: { facts: Facts; message: string }[] = [];
  const exporter = new TraceExporter({
    url: `${origin}/v1/traces`,
    headers: { 'x-key': 'secret' },
    resource: { 'service.name': 'test' },
    version: '1',
    log: { warn: (facts, message) => void lines.push({ facts, message }) },
    random: () => 0.5,
    onExported: (spans) => (count.exported += spans),
    onDropped: (spans) => (count.dropped += spans),
    flushAfterMs: 20,
    stepsMs: [10],
    ...setting,
  });
  t.teardown(() => exporter.close(0));
  const add = (spans: number) => {
    for (let index = 0; index < spans; index++) exporter.add(SPAN);
  };
  const told = () => lines.reduce((sum, { facts }) => sum + Number(facts.spans), 0);
  return { exporter, count, lines, add, told };
}

const SPAN = toOtlp({
  traceId: '0123456789abcdef0123456789abcdef',
  spanId: '0123456789abcdef',
  parentId: null,
  name: 'x',
  kind: 'internal',
  startedAt: 1_790_000_000_000,
  endedAt: 1_790_000_000_001.4,
  attributes: { text: 'a', number: 7, flag: true, nothing: null },
  error: 'why',
});

t.test('spans go out in batches, with the fields of the protocol', async (t) => {
  const receiver = await startOtlpReceiver(t);
  const { add, count } = openExporter(t, receiver.url);
  add(600);
  await until('all of them', () => count.exported === 600);
  t.same(receiver.requests, [512, 88]);
  t.same(receiver.offences, []);
  t.same(receiver.resource, { 'service.name': 'test' });
  t.match(receiver.headers, { 'x-key': 'secret', 'content-type': 'application/json' });
  const { attributes, error, startedAt, endedAt } = receiver.spans[0]!;
  t.same(attributes, { text: 'a', number: 7, flag: true });
  t.same([error, endedAt - startedAt], ['why', 1]);
  t.equal(count.dropped, 0);
});

t.test('what the receiver cannot take now is sent again', async (t) => {
  for (const status of [429, 502, 503, 504]) {
    const receiver = await startOtlpReceiver(t);
    let refusals = 2;
    receiver.answer = (response) => {
      if (refusals-- <= 0) return accept(response);
      response.writeHead(status).end();
      return false;
    };
    const { add, count } = openExporter(t, receiver.url);
    add(1);
    await until('the third', () => count.exported === 1);
    t.same(receiver.requests, [1, 1, 1], String(status));
    t.equal(count.dropped, 0);
  }
});

t.test('Retry-After is waited for, in place of the back-off', async (t) => {
  const receiver = await startOtlpReceiver(t);
  const came: number[] = [];
  receiver.answer = (response) => {
    came.push(performance.now());
    if (came.length > 1) return accept(response);
    response.writeHead(503, { 'Retry-After': '2' }).end();
    return false;
  };
  const { add, count } = openExporter(t, receiver.url);
  add(1);
  await until('the second', () => count.exported === 1);
  t.ok(came[1]! - came[0]! >= 1990, `${came[1]! - came[0]!} ms`);
});

t.test('what the receiver refuses is lost, with one line in the log', async (t) => {
  const receiver = await startOtlpReceiver(t);
  receiver.answer = (response) => {
    response.writeHead(400).end('{"message":"no"}');
    return false;
  };
  const { exporter, add, count, lines, told } = openExporter(t, receiver.url);
  add(513);
  await until('both batches', () => count.dropped === 513);
  t.equal(lines.length, 1);
  t.match(lines[0], { facts: { fact: 'traces_dropped' }, message: /the receiver answered 400/ });
  await exporter.close(1000);
  t.equal(told(), 513, 'in the end the log has told of all');
});

t.test('a partial success counts what was refused, and is not repeated', async (t) => {
  const receiver = await startOtlpReceiver(t);
  receiver.answer = (response) => {
    response.writeHead(200).end('{"partialSuccess":{"rejectedSpans":"2","errorMessage":"too old"}}');
    return true;
  };
  const { add, count, lines } = openExporter(t, receiver.url);
  add(5);
  await until('the answer', () => count.exported === 3);
  t.same([count.dropped, receiver.requests], [2, [5]]);
  t.match(lines[0]?.message, /too old/);
});

t.test('answers that are none do no harm', async (t) => {
  const receiver = await startOtlpReceiver(t);
  for (const body of ['', 'null', '[]', '{"partialSuccess":7}', '{"partialSuccess":{"rejectedSpans":-4}}', '<html>']) {
    receiver.answer = (response) => {
      response.writeHead(200).end(body);
      return true;
    };
    const { add, count } = openExporter(t, receiver.url);
    add(1);
    await until(`an answer of ${body}`, () => count.exported === 1);
    t.equal(count.dropped, 0, body);
  }
});

t.test('a receiver that is down gets what fits into the queue', async (t) => {
  const port = await findFreePort();
  const { add, count, lines } = openExporter(t, `http://127.0.0.1:${port}`, { maxQueued: 20 });
  add(30);
  t.equal(count.dropped, 10, 'at once, and nobody waits');
  t.match(lines[0]?.message, /the queue is full/);
  const receiver = await startOtlpReceiver(t, port);
  await until('the rest', () => count.exported === 20);
  t.equal(receiver.spans.length, 20);
});

t.test('a receiver that does not answer is asked again on another connection', async (t) => {
  const receiver = await startOtlpReceiver(t);
  let silences = 1;
  receiver.answer = (response) => (silences-- > 0 ? false : accept(response));
  const { add, count } = openExporter(t, receiver.url, { answerTimeoutMs: patience(100) });
  add(1);
  await until('the second', () => count.exported === 1);
  t.same(receiver.requests, [1, 1]);
});

t.test('the end sends what is left, within its grace', async (t) => {
  await t.test('to a receiver that takes it', async (t) => {
    const receiver = await startOtlpReceiver(t);
    const { exporter, add, count } = openExporter(t, receiver.url);
    add(700);
    await exporter.close(patience(5000));
    t.same(count, { exported: 700, dropped: 0 });
    t.equal(receiver.spans.length, 700);
    add(1);
    t.equal(count.dropped, 1, 'later ones are lost');
  });

  await t.test('not to one that does not answer', async (t) => {
    const receiver = await startOtlpReceiver(t);
    receiver.answer = () => false;
    const { exporter, add, count, told } = openExporter(t, receiver.url);
    add(700);
    await exporter.close(200);
    t.same(count, { exported: 0, dropped: 700 });
    t.equal(told(), 700);
  });

  await t.test('nor to one that is away', async (t) => {
    const { exporter, add, count } = openExporter(t, `http://127.0.0.1:${await findFreePort()}`);
    add(3);
    await exporter.close(200);
    t.same(count, { exported: 0, dropped: 3 });
  });
});
