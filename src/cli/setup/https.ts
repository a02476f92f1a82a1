// Who speaks HTTPS: the daemon, with certificates that it gets by itself, or a proxy in front of it. Asked once: who has a
// configuration with a host name, or with another value than the default for any of these keys, has decided already.
import { connect } from 'node:net';
import { isChosen, isSet } from '../../config/is-set.ts';
import type { KeyName } from '../../config/keys.ts';
import type { LoadedConfig } from '../../config/load.ts';
import type { NewValue, NewValues } from '../../config/set-values.ts';
import type { OwnAddress } from '../../domains/needed-records.ts';
import { oneOf } from '../option.ts';
import type { Questions } from './questions.ts';

export const HTTPS_CHOICES = ['self', 'proxy'] as const;
export type HttpsChoice = (typeof HTTPS_CHOICES)[number];

const DECIDING: readonly KeyName[] = ['tls.acme', 'http.tls_cert', 'http.trusted_proxies', 'http.host', 'http.port'];
const WEB_PORTS = [80, 443];
const LOOK_MS = 1000;

interface HttpsAsk {
  loaded: LoadedConfig;
  given: HttpsChoice | undefined;
  questions: Pick<Questions, 'ask'>;
}

/** Null: nothing is to be set. */
export async function askHttps({ loaded, given, questions }: HttpsAsk): Promise<HttpsChoice | null> {
  if (decidingKeys(loaded).length > 0) return null;
  if (given === undefined && isSet(loaded, 'service.base_url')) return null;
  return questions.ask({
    flag: 'https',
    question: `HTTPS: "self" (by Let's Encrypt, accepting its terms) or "proxy"`,
    known: given,
    fallback: given === undefined ? await likelyChoice() : null,
    read: oneOf('WHO', HTTPS_CHOICES, '').read,
  });
}

/** Ports that another program has are those of a web server, which then is the proxy. */
async function likelyChoice(): Promise<HttpsChoice> {
  const taken = await Promise.all(WEB_PORTS.map(isListenedOn));
  return taken.includes(true) ? 'proxy' : 'self';
}

function isListenedOn(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const settle = (result: boolean) => {
      socket.destroy();
      resolve(result);
    };
    const socket = connect({ host: '127.0.0.1', port }, () => settle(true));
    socket.setTimeout(LOOK_MS, () => settle(false));
    socket.once('error', () => settle(false));
  });
}

/** With an IPv6 address, the names get AAAA records: then whoever comes by IPv6 must be answered, too. */
export function httpsValues(choice: HttpsChoice | null, addresses: readonly OwnAddress[]): NewValues {
  if (choice === null) return new Map();
  if (choice === 'proxy') return new Map([['http.trusted_proxies', ['127.0.0.1']]]);
  const values = new Map<KeyName, NewValue>([
    ['http.host', '0.0.0.0'],
    ['http.port', 443],
    ['tls.acme', true],
    ['tls.acme_terms_accepted', true],
  ]);
  if (hasIpv6(addresses)) values.set('http.host', '::').set('tls.acme_host', '::');
  return values;
}

export function hasIpv6(addresses: readonly OwnAddress[]): boolean {
  return addresses.some(({ ip }) => ip.includes(':'));
}

/** What stays although a flag says something else; null: nothing. */
export function httpsDifference(loaded: LoadedConfig, given: HttpsChoice | undefined): string | null {
  const keys = decidingKeys(loaded);
  if (given === undefined || keys.length === 0) return null;
  const isSelf = loaded.config.tls.acme;
  if (isSelf === (given === 'self')) return null;
  return `--https ${given} changes nothing, because the configuration sets ${keys.join(', ')}. Change it there if it is wrong.`;
}

function decidingKeys(loaded: LoadedConfig): KeyName[] {
  return DECIDING.filter((name) => isChosen(loaded, name));
}
