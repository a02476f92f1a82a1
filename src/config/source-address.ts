// The format of a source address in the configuration:
// "192.0.2.10 out1.example.com weight=2 warm".
import { isIP } from 'node:net';

export interface SourceAddressSetting {
  ip: string;
  family: 4 | 6;
  ehloName: string;
  weight: number;
  warm: boolean;
}

const EHLO_NAME = /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)+$/;
const MAX_WEIGHT = 1000;

/** Null when the format is wrong. IPv6 addresses are normalized. */
export function readSourceAddress(text: string): SourceAddressSetting | null {
  const [ip = '', name = '', ...extras] = text.trim().toLowerCase().split(/\s+/);
  const family = isIP(ip);
  // A zone (fe80::1%eth0) is valid on one link only.
  if ((family !== 4 && family !== 6) || ip.includes('%') || !EHLO_NAME.test(name)) return null;
  const setting = { ip: canonical(ip, family), family, ehloName: name, weight: 1, warm: false } as const;
  return extras.reduce<SourceAddressSetting | null>((known, extra) => known && withExtra(known, extra), setting);
}

/** The texts must be valid. */
export function sourcePool(texts: readonly string[]): SourceAddressSetting[] {
  return texts.flatMap((text) => readSourceAddress(text) ?? []);
}

export function writeSourceAddress({ ip, ehloName, weight, warm }: SourceAddressSetting): string {
  return [ip, ehloName, ...(weight === 1 ? [] : [`weight=${weight}`]), ...(warm ? ['warm'] : [])].join(' ');
}

function withExtra(setting: SourceAddressSetting, extra: string): SourceAddressSetting | null {
  if (extra === 'warm') return { ...setting, warm: true };
  const weight = Number(/^weight=(\d{1,4})$/.exec(extra)?.[1]);
  return weight >= 1 && weight <= MAX_WEIGHT ? { ...setting, weight } : null;
}

function canonical(ip: string, family: 4 | 6): string {
  return family === 4 ? ip : new URL(`http://[${ip}]`).hostname.slice(1, -1);
}
