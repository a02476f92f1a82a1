// Verifies webhooks by Standard Webhooks 1.0: the signature is over the raw body.
'use strict';

const { createHmac, timingSafeEqual } = require('node:crypto');
const { objectOf } = require('./answer.js');
const { WebhookVerificationError } = require('./errors.js');
const { toCamelCase } = require('./names.js');

const DEFAULT_TOLERANCE_SECONDS = 300;

function verifyWebhook(payload, headers, secret, { toleranceSeconds = DEFAULT_TOLERANCE_SECONDS } = {}) {
  const key = keyOf(secret);
  const body = rawBytes(payload);
  const id = headerOf(headers, 'webhook-id');
  const timestamp = headerOf(headers, 'webhook-timestamp');
  const signatures = headerOf(headers, 'webhook-signature');
  checkTime(timestamp, toleranceSeconds);
  const expected = `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`;
  if (!signatures.split(' ').some((signature) => same(signature, expected))) {
    const message = 'No signature fits. Is this the secret of this webhook, and the body exactly as it was received?';
    throw refused('no_matching_signature', message);
  }
  const event = objectOf(body.toString('utf8'));
  if (event === null || !isUtf8(body)) {
    throw refused('invalid_payload', 'The signature fits, but the body is no JSON object.');
  }
  return toCamelCase(event);
}

function rawBytes(payload) {
  if (typeof payload === 'string') return Buffer.from(payload, 'utf8');
  if (ArrayBuffer.isView(payload)) return Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength);
  if (payload instanceof ArrayBuffer) return Buffer.from(payload);
  const message =
    'The payload is not the raw body. Pass the body as it was received (string or bytes), before any JSON parser.';
  throw refused('payload_not_raw', message);
}

function headerOf(headers, name) {
  const entries = typeof headers?.entries === 'function' ? headers.entries() : Object.entries(headers ?? {});
  for (const [given, value] of entries) {
    const text = Array.isArray(value) ? value[0] : value;
    if (given.toLowerCase() === name && typeof text === 'string' && text !== '') return text;
  }
  throw refused('missing_header', `The header ${name} is missing.`);
}

function keyOf(secret) {
  const given = typeof secret === 'string' ? secret.trim() : '';
  const text = given.replace(/^whsec_/, '').replace(/=+$/, '');
  if (/^[A-Za-z0-9+/]+$/.test(text) && text.length % 4 !== 1) return Buffer.from(text, 'base64');
  throw refused('invalid_secret', 'The secret is not base64; copy it as POST /webhooks answered it.');
}

function checkTime(timestamp, toleranceSeconds) {
  if (!/^\d+$/.test(timestamp)) {
    throw refused('invalid_timestamp', 'The header webhook-timestamp is no whole number of seconds.');
  }
  const ageSeconds = Date.now() / 1000 - Number(timestamp);
  const limit = `more than ${toleranceSeconds} seconds`;
  if (ageSeconds < -toleranceSeconds) {
    throw refused('timestamp_too_new', `The webhook was signed ${limit} ahead of the clock of this machine.`);
  }
  // Written so that a tolerance of NaN lets nothing pass.
  if (!(ageSeconds <= toleranceSeconds)) throw refused('timestamp_too_old', `The webhook was signed ${limit} ago.`);
}

function same(given, expected) {
  const left = Buffer.from(given);
  const right = Buffer.from(expected);
  return left.length === right.length && timingSafeEqual(left, right);
}

function isUtf8(bytes) {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

function refused(code, message) {
  return new WebhookVerificationError(message, { code });
}

module.exports = { verifyWebhook };
