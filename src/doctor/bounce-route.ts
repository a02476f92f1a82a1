// Where bounces go: whether the MX record of the return path's domain leads to this machine, and to the listener on it.
import { isIP } from 'node:net';
import { mxRecord, type OwnAddress } from '../domains/needed-records.ts';
import { findMailRoute, type MailAddress, type MailRoute } from '../protocol/dns/mail-route.ts';
import type { DoctorKit, DoctorSettings } from './doctor-settings.ts';
import { type Finding, fine, publish, publishBeside, warning, wrong } from './finding.ts';
import { greetingOf } from './greeting.ts';
import { seenAddresses } from './own-names.ts';

interface Facts {
  route: MailRoute;
  hasMx: boolean;
  /** Of the route's addresses, those that this machine is known to have. */
  here: readonly MailAddress[];
  /** Why other mail servers may not reach the listener there; null: they do. */
  unheard: Unheard | null;
}

interface Unheard {
  what: string;
  setting: string;
}

export async function checkBounceRoute(kit: DoctorKit, addresses: readonly OwnAddress[]): Promise<Finding[]> {
  const { settings, resolver } = kit;
  const route = await findMailRoute(settings.bouncesDomain, kit);
  const mx = await resolver.mx(settings.bouncesDomain);
  const ours = new Set([...addresses.map(({ ip }) => ip), ...(await seenAddresses(kit))]);
  const all = route.kind === 'hosts' ? route.hosts.flatMap((host) => host.addresses) : [];
  const here = all.filter(({ ip }) => ours.has(ip));
  const unheard = here.length === 0 ? null : whyUnheard(settings.inbound, here);
  const isForwarded = unheard !== null && (await answersAt(kit, here));
  return [judge(settings, { route, hasMx: mx.kind === 'found', here, unheard: isForwarded ? null : unheard })];
}

function judge(
  { bouncesDomain, ehloName }: Pick<DoctorSettings, 'bouncesDomain' | 'ehloName'>,
  { route, hasMx, here, unheard }: Facts,
): Finding {
  const about = { check: 'MX', subject: bouncesDomain };
  const record = mxRecord({ bouncesDomain, ehloName });
  const remedy = publish(record);
  switch (route.kind) {
    case 'unavailable':
      return warning(about, `couldn't be checked: ${route.reason}`);
    case 'undeliverable':
      return wrong(about, `has no working MX, so bounces are lost: ${route.reason}`, remedy);
    case 'hosts': {
      const names = route.hosts.map(({ name }) => name).join(', ');
      if (!hasMx) return warning(about, `has no MX record; bounces go to its address record instead`, remedy);
      if (unheard !== null)
        return warning(about, `points to ${names}, but ${unheard.what}`, { setting: unheard.setting });
      if (here.length > 0) return fine(about, `points to ${names}`);
      // The others may be machines of the same service.
      return warning(about, `points to ${names}, which is not a known address of this machine`, publishBeside(record));
    }
  }
}

function whyUnheard(
  { host, port, isLoopback }: DoctorSettings['inbound'],
  here: readonly MailAddress[],
): Unheard | null {
  const unless = 'unless something here forwards port 25 to it, bounces are lost';
  if (isLoopback)
    return { what: `smtp.host is ${host}: ${unless}`, setting: 'smtp.host = "0.0.0.0", or "::" with IPv6' };
  if (port !== 25) return { what: `smtp.port is ${port}: ${unless}`, setting: 'smtp.port = 25' };
  const v6 = isIP(host) === 4 ? here.find(({ family }) => family === 6) : undefined;
  if (v6 === undefined) return null;
  const what = `smtp.host is ${host}, so nothing listens at ${v6.ip}: servers try it first, and some only it`;
  return { what, setting: 'smtp.host = "::"' };
}

/** Behind a container's published port, or a firewall that forwards, it answers where it does not listen. */
async function answersAt(kit: DoctorKit, here: readonly MailAddress[]): Promise<boolean> {
  const greetings = await Promise.all(here.map(({ ip }) => greetingOf(kit, { ip, from: null })));
  return greetings.every((heard) => 'greeting' in heard && isOurs(heard.greeting, kit.settings.ehloName));
}

/** Another server of this machine may greet with the same name. */
function isOurs(greeting: string, ehloName: string): boolean {
  return greeting.startsWith(`220 ${ehloName} `) && greeting.endsWith(' Postrider');
}
