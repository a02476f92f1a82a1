// Whether the outbound port is open: whether the mail servers of well-known domains greet. Many hosters block port 25 until
// asked to open it.
import type { OwnAddress } from '../domains/needed-records.ts';
import { findMailRoute, type MailAddress, type MailRoute } from '../protocol/dns/mail-route.ts';
import type { DoctorKit } from './doctor-settings.ts';
import { type Finding, fine, warning, wrong } from './finding.ts';
import { greetingOf } from './greeting.ts';

export type CallResult =
  | { kind: 'greeted'; domain: string; ip: string; greeting: string }
  /** The server answered with something other than a 220 greeting. */
  | { kind: 'unwelcome'; domain: string; ip: string; greeting: string }
  | { kind: 'unreachable'; domain: string; ip: string; reason: string }
  /** No host to connect to. */
  | { kind: 'no_route'; domain: string; reason: string };

// One of a route's hosts may be down.
const MAX_HOSTS = 2;
// All connect at once: servers would refuse some of a larger number.
const MAX_SOURCES = 8;

/** Once per configured source address, or once with the address that the system picks. */
export async function checkOutboundPort(kit: DoctorKit): Promise<Finding[]> {
  const { mailDomains, sources, delivery } = kit.settings;
  if (mailDomains.length === 0) return [];
  const routes = await Promise.all(
    mailDomains.map(async (domain) => ({ domain, route: await findMailRoute(domain, kit) })),
  );
  const from: (OwnAddress | null)[] = sources.length > 0 ? sources.slice(0, MAX_SOURCES) : [null];
  return Promise.all(
    from.map(async (source) => {
      const calls = routes.map(({ domain, route }) => call(kit, { domain, route, from: source?.ip ?? null }));
      return judgeOutboundPort(delivery.port, source?.ip ?? null, await Promise.all(calls));
    }),
  );
}

export function judgeOutboundPort(port: number, from: string | null, calls: readonly CallResult[]): Finding {
  const about = { check: 'outbound port', subject: from === null ? `${port}` : `${port} from ${from}` };
  const greeted = calls.filter(({ kind }) => kind === 'greeted');
  const others = calls.flatMap((one) => (one.kind === 'greeted' ? [] : [describeCall(one)])).join('; ');
  if (greeted.length === calls.length) {
    return fine(about, `is open: ${greeted.map(({ domain }) => domain).join(', ')} greeted`);
  }
  if (calls.some(({ kind }) => kind === 'unwelcome')) {
    return warning(about, `is open, but ${others}`, {
      advice: "the server's reply gives the reason, often a blocklist",
    });
  }
  if (greeted.length > 0) return warning(about, `is open, but ${others}`);
  if (calls.every(({ kind }) => kind === 'no_route')) return warning(about, `couldn't be tested: ${others}`);
  return wrong(about, `is closed: ${others}`, {
    advice: `ask your hosting provider to open outbound port ${port}, and check your own firewall (nft list ruleset)`,
  });
}

function describeCall(call: Exclude<CallResult, { kind: 'greeted' }>): string {
  switch (call.kind) {
    case 'unwelcome':
      return `${call.domain} (${call.ip}) answered: ${call.greeting}`;
    case 'unreachable':
      return `${call.domain} (${call.ip}): ${call.reason}`;
    case 'no_route':
      return `${call.domain}: ${call.reason}`;
  }
}

interface Target {
  domain: string;
  route: MailRoute;
  from: string | null;
}

async function call(kit: DoctorKit, { domain, route, from }: Target): Promise<CallResult> {
  if (route.kind !== 'hosts') return { kind: 'no_route', domain, reason: route.reason };
  const fits = ({ ip, family }: MailAddress) =>
    (from === null || family === (from.includes(':') ? 6 : 4)) && kit.settings.delivery.addresses.allows(ip);
  const hosts = route.hosts.flatMap(({ addresses }) => addresses.find(fits) ?? []).slice(0, MAX_HOSTS);
  let last: CallResult = { kind: 'no_route', domain, reason: 'none of its mail servers has a usable address' };
  for (const { ip } of hosts) {
    last = await greet(kit, { domain, ip, from });
    if (last.kind === 'greeted') break;
  }
  return last;
}

async function greet(
  kit: DoctorKit,
  { domain, ip, from }: { domain: string; ip: string; from: string | null },
): Promise<CallResult> {
  const heard = await greetingOf(kit, { ip, from });
  if ('unheard' in heard) return { kind: 'unreachable', domain, ip, reason: heard.unheard };
  const { greeting } = heard;
  return { kind: greeting.startsWith('220') ? 'greeted' : 'unwelcome', domain, ip, greeting };
}
