// schema/events/, the OpenAPI description and the code are held to each other: what the code writes
// fits both, every example is one, and both refuse the same.
import fs from 'node:fs';
import path from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import t from 'tap';
import { IdSource } from '../../src/base/ids.ts';
import { noPeer } from '../../src/base/outcome.ts';
import {
  bouncedEvent,
  canceledEvent,
  deferredEvent,
  deliveredEvent,
  failedEvent,
} from '../../src/events/delivery-events.ts';
import { type EventBody, eventBody } from '../../src/events/event-body.ts';
import { EVENT_TYPES } from '../../src/events/event-types.ts';
import { complainedEvent, delayNoticeEvent, reportedBounceEvent } from '../../src/events/report-events.ts';
import type { EventSubject } from '../../src/store/event-of-message.ts';
import type { NewEvent } from '../../src/store/events.ts';
import { decideHits } from '../../src/store/sql/verbs/message/decide-hits.ts';
import type { LinkIndex } from '../../src/store/tracking.ts';
import { misfit } from '../support/openapi-check.ts';

const FOLDER = path.join(import.meta.dirname, '../../schema/events');
const TYPES = Object.keys(EVENT_TYPES) as (keyof typeof EVENT_TYPES)[];

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, strictTypes: false, strictRequired: false });
addFormats.default(ajv);
const schemas = new Map(
  TYPES.map((type) => [type as string, JSON.parse(fs.readFileSync(path.join(FOLDER, `${type}.json`), 'utf8'))]),
);
const validators = new Map([...schemas].map(([type, schema]) => [type, ajv.compile(schema)]));

function schemaProblem(body: EventBody): string | null {
  const validate = validators.get(body.type)!;
  return validate(body) ? null : ajv.errorsText(validate.errors);
}

function openapiProblem(body: EventBody): string | null {
  return misfit('#/components/schemas/Event', body);
}

t.test('there is one schema for each type that the code knows', async (t) => {
  t.strictSame(fs.readdirSync(FOLDER).sort(), TYPES.map((type) => `${type}.json`).sort());
  for (const [type, schema] of schemas) {
    t.equal(schema.title, type);
    t.strictSame(schema.properties.type, { const: type });
    t.strictSame(schema.properties.family, { const: EVENT_TYPES[type as (typeof TYPES)[number]].family });
    t.equal(schema.description, EVENT_TYPES[type as (typeof TYPES)[number]].meaning);
  }
});

t.test('each has an example, and without any one of its fields or with one more it fits no more', async (t) => {
  for (const [type, { examples }] of schemas) {
    t.equal(examples.length, 1, type);
    const example = examples[0] as EventBody;
    t.equal(schemaProblem(example), null, type);
    t.equal(openapiProblem(example), null, type);
    for (const holder of ['', 'data', ...Object.keys(example.data).filter((name) => isObject(example.data[name]))]) {
      const fields = Object.keys(partOf(structuredClone(example), holder)).filter((name) => name !== 'type');
      for (const field of fields) {
        const broken = structuredClone(example);
        delete partOf(broken, holder)[field];
        t.type(schemaProblem(broken), 'string', `${type} without ${holder}.${field}`);
        t.type(openapiProblem(broken), 'string', `${type} without ${holder}.${field}`);
      }
      const enlarged = structuredClone(example);
      partOf(enlarged, holder).surprise = 1;
      t.type(schemaProblem(enlarged), 'string', `${type} with ${holder}.surprise`);
      t.type(openapiProblem(enlarged), 'string', `${type} with ${holder}.surprise`);
    }
  }
});

t.test('what the code writes fits both', async (t) => {
  const seen = new Set<string>();
  const labels = { tags: { kind: 'order' }, metadata: { order: '4711' }, headerMessageId: 'order-4711@app.example' };
  for (const event of [...eventsOf(MESSAGE), ...eventsOf({ ...MESSAGE, labels })]) {
    const body = eventBody({ ...event, tenantId: MESSAGE.id, messageId: MESSAGE.id });
    seen.add(body.type);
    t.equal(schemaProblem(body), null, `${body.type}: ${JSON.stringify(body.data)}`);
    t.equal(openapiProblem(body), null, body.type);
  }
  t.strictSame([...seen].sort(), [...TYPES].sort(), 'all types are written by some code');
});

const ids = new IdSource();
const MESSAGE: EventSubject = {
  ...{ id: ids.next(), submissionId: ids.next(), from: 'app@acme.test', recipient: 'ann@x.test' },
  ...{ subject: 'Grüße', fromDomain: 'acme.test', labels: null },
};

function eventsOf(message: EventSubject): NewEvent[] {
  const stamp = () => ({ id: ids.next(), at: Date.UTC(2026, 10, 22) });
  const nobody = { peer: noPeer('connect', 'nobody answers'), attempt: 1 };
  const peer = {
    ...nobody.peer,
    ...{
      mx: 'mx.x.test',
      remoteIp: '203.0.113.8',
      smtpCode: 250,
      enhancedCode: '2.0.0',
      response: '250 ok',
      elapsedMs: 12.7,
    },
    tls: { version: 'TLSv1.3', cipher: 'TLS_AES_256_GCM_SHA384', verified: true },
  };
  const somebody = { peer, attempt: 2 };
  const nextAttemptAt = Date.UTC(2026, 10, 23);
  const empty = { smtpCode: null, enhancedCode: null, diagnostic: null, mx: null, reportingMta: null, attempt: 1 };
  const full = {
    smtpCode: 550,
    enhancedCode: '5.1.1',
    diagnostic: 'no such user',
    mx: 'mx.x.test',
    reportingMta: 'r.x.test',
    attempt: 3,
  };
  const complaint = {
    feedbackType: 'abuse',
    userAgent: null,
    arrivalDate: null,
    reportedDomain: null,
    suppressed: true,
  };
  return [
    deliveredEvent(stamp(), message, somebody),
    ...[nobody, somebody].map((facts) => deferredEvent(stamp(), message, { ...facts, nextAttemptAt })),
    ...(['hard', 'soft', 'block'] as const).map((bounce) =>
      bouncedEvent(stamp(), message, { ...somebody, bounce, suppressed: bounce === 'hard' }),
    ),
    failedEvent(stamp(), message, nobody),
    canceledEvent(stamp(), message, { by: 'operator', reason: 'a mistake' }),
    ...[empty, full].flatMap((facts) => [
      reportedBounceEvent(stamp(), message, { ...facts, bounce: 'hard', suppressed: true }),
      reportedBounceEvent(stamp(), message, {
        ...facts,
        bounce: 'soft',
        suppressed: false,
        forwardedTo: 'jo@home.test',
      }),
      delayNoticeEvent(stamp(), message, facts),
    ]),
    complainedEvent(stamp(), message, complaint),
    complainedEvent(stamp(), message, {
      ...complaint,
      arrivalDate: nextAttemptAt,
      reportedDomain: 'acme.test',
      userAgent: 'x',
    }),
    ...trackingEvents(message, stamp),
  ];
}

function trackingEvents(message: EventSubject, stamp: () => { id: string; at: number }): NewEvent[] {
  const seen = (link: LinkIndex) => ({ link, hits: 1, events: 1, lastAt: 0, lastEventAt: 0 });
  const state = { tenantId: 'unused', state: 'delivered', finishedAt: 0, attempts: 1 } as const;
  const timing = { beforeDeliveryMs: 1000, burstLinks: 3, burstWithinMs: 5000, burstAfterDeliveryMs: 5000 };
  const unknown = { ip: '', userAgent: null, machineReason: null };
  const known = { ip: '203.0.113.9', userAgent: 'Firefox', machineReason: 'a scanner' };
  const cases = [
    { fetcher: unknown, links: [] },
    { fetcher: known, links: [seen(null), seen(0)] },
  ];
  return cases.flatMap(({ fetcher, links }) => {
    const fetched = [null, 0].map((link) => {
      const { id: eventId, at } = stamp();
      const of = { link, url: link === null ? '' : 'https://acme.test/', linkCount: link === null ? 0 : 1 };
      return { ...of, hits: 1, firstAt: at, lastAt: at, shown: { at, ...fetcher }, eventId };
    });
    return decideHits({ ...message, ...state, links }, fetched, timing).map(({ event }) => event!);
  });
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

function partOf(body: EventBody, holder: string): Record<string, unknown> {
  if (holder === '') return body as unknown as Record<string, unknown>;
  return (holder === 'data' ? body.data : body.data[holder]) as Record<string, unknown>;
}
