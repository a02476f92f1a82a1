// Reads clients/conformance/cases: samples put in their places, webhook vectors signed for now
// and turned into calls, long strings made long.
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Case, Json, JsonObject, WebhookCase } from '../../clients/conformance/case-format.ts';

const FOLDER = path.join(import.meta.dirname, '../../clients/conformance/cases');
const CALLS = [
  'calls',
  'copies',
  'attachments',
  'labels',
  'tracking',
  'submissions',
  'batch',
  'schedule',
  'written-mails',
];
const MANAGING = ['search', 'suppressions', 'managing-webhooks', 'figures'];
const FILES = [...CALLS, ...MANAGING, 'errors', 'retries', 'network', 'options'];

const read = (name: string) => JSON.parse(readFileSync(path.join(FOLDER, `${name}.json`), 'utf8')) as Json;

export function readCases(): Case[] {
  const samples = read('samples') as JsonObject;
  return FILES.flatMap((name) => fillIn(read(name), samples) as unknown as Case[]);
}

/** Signed anew each time: their times are counted from now. */
export function readWebhookCases(nowMs: number): Case[] {
  return (fillIn(read('webhooks'), {}) as unknown as WebhookCase[]).map((vector) => webhookCase(vector, nowMs));
}

export function fillIn(value: Json, samples: JsonObject): Json {
  if (typeof value === 'string' && value.startsWith('$')) {
    const sample = samples[value.slice(1)];
    if (sample === undefined) throw new Error(`${value} is no sample`);
    return fillIn(sample, samples);
  }
  if (Array.isArray(value)) return value.map((part) => fillIn(part, samples));
  if (typeof value !== 'object' || value === null) return value;
  if ('$repeat' in value) {
    const [text, times] = value.$repeat as [string, number];
    return text.repeat(times);
  }
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, fillIn(part, samples)]));
}

export function keyOf(secret: string): Buffer {
  return Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
}

function webhookCase(vector: WebhookCase, nowMs: number): Case {
  const { name, secret, tolerance_seconds, expect } = vector;
  const payload = Buffer.from(vector.payload_base64 ?? vector.payload ?? '', vector.payload_base64 ? 'base64' : 'utf8');
  const args: JsonObject = { headers: headersOf(vector, payload, nowMs), secret };
  if (tolerance_seconds !== undefined) args.tolerance_seconds = tolerance_seconds;
  if (vector.give === 'bytes') args.payload_base64 = payload.toString('base64');
  else if (vector.give === 'parsed') args.payload_parsed = JSON.parse(payload.toString()) as Json;
  else args.payload = payload.toString();
  return {
    name,
    call: { method: 'verify_webhook', args },
    answers: [],
    expect: { requests: [], ...('event' in expect ? { result: expect.event } : { error: expect.error }) },
  };
}

function headersOf({ signed, headers = {} }: WebhookCase, payload: Buffer, nowMs: number): JsonObject {
  const made: Record<string, string | null> = {};
  if (signed) {
    const timestamp = String(signed.timestamp ?? Math.floor(nowMs / 1000) + (signed.at ?? 0));
    const body = signed.payload === undefined ? payload : Buffer.from(signed.payload);
    const sign = (secret: string) =>
      createHmac('sha256', keyOf(secret)).update(`${signed.id}.${timestamp}.`).update(body).digest('base64');
    made['webhook-id'] = signed.id;
    made['webhook-timestamp'] = timestamp;
    made['webhook-signature'] = signed.secrets.map((secret) => `v1,${sign(secret)}`).join(' ');
  }
  const { 'webhook-timestamp': timestamp, 'webhook-signature': signature } = made;
  for (const [name, value] of Object.entries(headers)) {
    made[name] = value?.replace('{timestamp}', timestamp ?? '').replaceAll('{signature}', signature ?? '') ?? null;
  }
  return Object.fromEntries(Object.entries(made).filter(([, value]) => value !== null));
}
