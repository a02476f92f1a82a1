// The formats of strings in the configuration. Each returns the normalized string (lower case, without
// a trailing slash), or null; `expected` continues the sentence
// "must be …". Syntax only: nothing is resolved or opened here.
import { isIP, isIPv4 } from 'node:net';
import type { Shape } from './key-types.ts';
import { readSourceAddress, writeSourceAddress } from './source-address.ts';

interface ShapeRule {
  expected: string;
  read(text: string): string | null;
}

const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const MASTER_KEY = /^[A-Za-z0-9+/]{43}=$/;
const NODE_NAME = /^[A-Za-z0-9][\w.-]{0,62}$/;
const LOCAL_PART = /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}$/;

export const SHAPES: Readonly<Record<Shape, ShapeRule>> = {
  text: { expected: 'a text', read: (text) => text },
  host: {
    expected: 'an IP address or a host name',
    read: (text) => (isIP(text) ? text : readName(text, 1)),
  },
  domain: {
    expected: 'a domain name of at least two labels, such as "bounces.example.com"',
    read: (text) => (isIP(text) ? null : readName(text, 2)),
  },
  selector: { expected: 'a DKIM selector: DNS labels joined by dots', read: (text) => readName(text, 1) },
  origin: {
    expected: 'only scheme, host and port, such as "https://mail.example.com"',
    read: readOrigin,
  },
  'mail-address': { expected: 'an email address such as "operator@example.com"', read: readMailAddress },
  'master-key': {
    expected: '32 bytes in base64 (44 characters; openssl rand -base64 32 makes one)',
    read: (text) => (MASTER_KEY.test(text) ? text : null),
  },
  'postgres-url': {
    expected: 'a URL such as "postgres://user:password@host:5432/database"',
    read: (text) => (/^postgres(?:ql)?:\/\/\S+$/.test(text) ? text : null),
  },
  'node-name': {
    expected: 'at most 63 letters, digits, dots, hyphens and underscores, such as "mail-1"',
    read: (text) => (NODE_NAME.test(text) ? text : null),
  },
  network: { expected: 'an IP address or a network such as "10.0.0.0/8"', read: readNetwork },
  'dns-server': {
    expected: 'an IP address, with or without port: "192.0.2.53", "192.0.2.53:5353", "[2001:db8::53]:5353"',
    read: readDnsServer,
  },
  'acme-directory': {
    expected: '"production", "staging" or the https URL of a directory',
    read: (text) => (/^(?:production|staging)$/.test(text) || isHttpsUrl(text) ? text : null),
  },
  'otlp-endpoint': {
    expected: 'an http or https URL without user, query and fragment, such as "http://127.0.0.1:4318"',
    read: readEndpoint,
  },
  'source-address': {
    expected:
      'an IP address and its EHLO host name, optionally followed by "weight=N" (1 to 1000) and "warm", such as "192.0.2.10 out1.example.com weight=2"',
    read(text) {
      const setting = readSourceAddress(text);
      return setting && writeSourceAddress(setting);
    },
  },
};

function isHttpsUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && url.protocol === 'https:' && url.username === '' && url.password === '';
}

function readName(text: string, minLabels: number): string | null {
  const name = text.toLowerCase();
  const labels = name.split('.');
  return name.length <= 253 && labels.length >= minLabels && labels.every((label) => LABEL.test(label)) ? name : null;
}

function readOrigin(text: string): string | null {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol)) return null;
  // The comparison rejects path, query, fragment and credentials at once.
  return url.href === `${url.origin}/` ? url.origin : null;
}

function readEndpoint(text: string): string | null {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol)) return null;
  if (url.href !== `${url.origin}${url.pathname}`) return null;
  return `${url.origin}${url.pathname}`.replace(/(?:\/v1\/traces)?\/*$/, '');
}

function readMailAddress(text: string): string | null {
  const at = text.lastIndexOf('@');
  const domain = readName(text.slice(at + 1), 1);
  const local = text.slice(0, at);
  return at > 0 && domain && LOCAL_PART.test(local) ? `${local}@${domain}` : null;
}

function readNetwork(text: string): string | null {
  const [address, prefix, ...rest] = text.split('/');
  if (!address || !isIP(address) || rest.length > 0) return null;
  if (prefix === undefined) return text;
  return /^\d{1,3}$/.test(prefix) && Number(prefix) <= (isIPv4(address) ? 32 : 128) ? text : null;
}

function readDnsServer(text: string): string | null {
  if (isIP(text)) return text;
  const match = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text);
  if (!match) return null;
  const [, v6, v4, port] = match;
  const addressOk = v6 ? isIP(v6) === 6 : isIPv4(v4!);
  return addressOk && isPort(Number(port)) ? text : null;
}

function isPort(port: number): boolean {
  return port >= 1 && port <= 65535;
}
