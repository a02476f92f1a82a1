// A world in which all is well: a real DNS server, a real mail server that greets, and a kit whose
// other probes say what the test wants.
import type { Test } from 'tap';
import type { DoctorKit } from '../../src/doctor/doctor-settings.ts';
import type { Finding } from '../../src/doctor/finding.ts';
import { createResolver } from '../../src/protocol/dns/lookup/resolver.ts';
import { dialTcp } from '../../src/protocol/smtp/dial.ts';
import { startDnsServer, type TestDnsServer } from '../support/dns-server.ts';
import { patience } from '../support/patience.ts';
import { type PeerScript, startPeer } from '../support/smtp-peer.ts';

export const IP4 = '198.41.0.4';
export const IP6 = '2001:503:ba3e::2:30';
export const KEY = `MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA${'x+/9'.repeat(80)}IDAQAB`;
export const LIST = 'list.test';
const LISTED = '2.0.0.127';

export const greets: PeerScript = async (peer) => {
  peer.say('220 mx.big.test ESMTP');
  await peer.answer('QUIT', '221 bye');
};

export interface World {
  dns: TestDnsServer;
  heard: string[];
  kit: DoctorKit;
}

export async function startWorld(t: Test, script: PeerScript = greets): Promise<World> {
  const dns = await startDnsServer();
  const peer = await startPeer([script]);
  t.teardown(() => Promise.all([dns.close(), peer.close()]));
  publishAll(dns);
  const kit: DoctorKit = {
    settings: {
      ehloName: 'mail.service.test',
      sources: [
        { ip: IP4, ehloName: 'mail.service.test' },
        { ip: IP6, ehloName: 'mail.service.test' },
      ],
      bouncesDomain: 'bounces.service.test',
      inbound: { host: '::', port: 25, isLoopback: false },
      spfDomain: 'bounces.service.test',
      dkim: { domain: 'bounces.service.test', selector: 'postrider' },
      dmarcReportAddress: 'dmarc@bounces.service.test',
      baseUrl: 'http://mail.service.test',
      linksUrl: 'http://mail.service.test',
      httpTls: null,
      smtpTls: null,
      isSubmissionOn: false,
      submissionTls: null,
      acme: { http: null, smtp: null, challenge: 'http-01', isStaging: false },
      delivery: { port: peer.port, addresses: { allows: () => true } },
      dataDir: '/nowhere',
      storeName: '/nowhere/postrider.db',
      minDiskFreeShare: 0.1,
      mailDomains: ['big.test'],
      knownDomains: ['big.test'],
      timeSources: [],
      blocklists: [LIST],
    },
    now: () => Date.now(),
    random: () => 0,
    resolver: resolverOf(dns),
    dnsServers: [probe(dns)],
    // The machine does not have these addresses; the peer is real.
    dial: (target) => dialTcp({ ...target, ip: '127.0.0.1', localAddress: undefined }),
    bindProblem: async () => null,
    machineAddresses: () => ({ public: [IP4, IP6], private: [] }),
    diskRoom: async () => ({ diskFreeShare: 0.5, reusableShare: 0 }),
    ca: undefined,
    stored: async () => ({ serviceDkimKeyB64: KEY, sendingDomains: ['tenant.test'] }),
    certificates: async () => [],
    database: async () => ({ kind: 'checked', problems: [], elapsedMs: 1 }),
    server: async () => null,
    held: async () => 0,
    keyFile: () => ({ file: '/nowhere/master.key', openTo: null }),
    keyTrouble: async () => null,
    configFile: () => null,
    signing: async () => ({ perSecond: 4000, other: null }),
    daemon: async () => ({
      kind: 'running',
      facts: {
        ...{ intake: { accepting: true, reason: null }, unstored_results: null, couriers: null },
        ...{ timers: [], openssl_ia32cap: null },
      },
    }),
  };
  return { dns, heard: peer.heard, kit };
}

/** Asked by itself. */
export function probe(dns: TestDnsServer): DoctorKit['dnsServers'][number] {
  return { server: dns.endpoint, resolver: resolverOf(dns) };
}

export function resolverOf({ endpoint }: TestDnsServer): DoctorKit['resolver'] {
  return createResolver({ servers: [endpoint], clock: { now: () => Date.now() }, timeoutMs: patience(1000) });
}

function publishAll(dns: TestDnsServer): void {
  dns.set('big.test', 'MX', [{ exchange: 'mx.big.test', preference: 10 }]);
  dns.set('mx.big.test', 'A', ['192.0.2.1']);
  dns.set('mx.big.test', 'AAAA', ['2001:db8::1']);
  dns.set('mail.service.test', 'A', [IP4]);
  dns.set('mail.service.test', 'AAAA', [IP6]);
  dns.set('4.0.41.198.in-addr.arpa', 'PTR', ['mail.service.test']);
  dns.set('0.3.0.0.2.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.e.3.a.b.3.0.5.0.1.0.0.2.ip6.arpa', 'PTR', ['mail.service.test']);
  dns.set('bounces.service.test', 'MX', [{ exchange: 'mail.service.test', preference: 10 }]);
  dns.set('bounces.service.test', 'TXT', [`v=spf1 ip4:${IP4} ip6:${IP6} -all`]);
  dns.set('postrider._domainkey.bounces.service.test', 'TXT', [`v=DKIM1; k=rsa; p=${KEY}`]);
  dns.set('postrider-doctor.invalid._report._dmarc.bounces.service.test', 'TXT', ['v=DMARC1']);
  dns.set(`${LISTED}.${LIST}`, 'A', ['127.0.0.2']);
}

/** The findings of one check. */
export function of(findings: readonly Finding[], check: string): Finding[] {
  return findings.filter((finding) => finding.check === check);
}
