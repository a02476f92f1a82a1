// A real DNS server for tests, UDP and TCP on one port of a loopback address: resolver and authority in one.
// Its codec is not the one of the product. A test sets the records and lets names misbehave.
import { once } from 'node:events';
import { type AddressInfo, isIPv6, type Socket } from 'node:net';
import dns2, { type DnsHandler, Packet, type Resource } from 'dns2';
import { type Behaviour, MISBEHAVIOUR } from './dns-misbehaviour.ts';

export interface RecordData {
  A: string[];
  AAAA: string[];
  CNAME: string[];
  NS: string[];
  PTR: string[];
  MX: { exchange: string; preference: number }[];
  /** A record is one string, or the strings that it is split into; long ones are split by themselves. */
  TXT: (string | string[])[];
}
export type RecordKind = keyof RecordData;

export interface DnsServerOptions {
  address?: string;
  /** For several servers on one port of different addresses. */
  port?: number;
  records?: Record<string, Partial<RecordData>>;
  /** Names outside these are REFUSED; without it the server speaks for everything. */
  zones?: string[];
}

export interface TestDnsServer {
  readonly port: number;
  readonly address: string;
  /** `ip:port`, as the configuration wants it. */
  readonly endpoint: string;
  /** Every question since the start, in order. */
  readonly queries: { name: string; type: string; transport: 'udp' | 'tcp' }[];
  /** Replaces what the name has of this type. */
  set<K extends RecordKind>(name: string, type: K, data: RecordData[K], ttlS?: number): void;
  /** Without a type: all types. */
  remove(name: string, type?: RecordKind): void;
  /** NS and address records that make this server the zone's only one. */
  addZone(name: string): void;
  /** Questions without RD for the zone get a referral, with glue for the addresses that are given. */
  delegate(zone: string, nameServers: Record<string, string[]>): void;
  /** `*` stands for every name; null ends it. */
  behave(name: string, behaviour: Behaviour | null): void;
  close(): Promise<void>;
}

type Send = Parameters<DnsHandler>[1];

const { TYPE, CLASS, RCODE } = Packet;
const MAX_ALIASES = 20;
const BIND_TRIES = 20;

export async function startDnsServer(options: DnsServerOptions = {}): Promise<TestDnsServer> {
  const address = options.address ?? '127.0.0.1';
  const zone = new ZoneData(options);
  const queries: TestDnsServer['queries'] = [];
  const behaviours = new Map<string, Behaviour>();

  const handle = (request: Packet, send: Send, transport: 'udp' | 'tcp') => {
    const question = request.questions[0];
    if (!question) return;
    const name = question.name.toLowerCase();
    queries.push({ name, type: Packet.typeName(question.type), transport });
    const behaviour = behaviours.get(name) ?? behaviours.get('*') ?? null;
    const response = zone.answer(request);
    const messages = behaviour ? MISBEHAVIOUR[behaviour]({ request, response, transport }) : [response];
    for (const message of messages) send(message as Packet);
  };
  const { udp, tcp, port, connections } = await listenOnBoth(address, options.port ?? 0, handle);

  return {
    port,
    address,
    endpoint: isIPv6(address) ? `[${address}]:${port}` : `${address}:${port}`,
    queries,
    set: (name, type, data, ttlS) => zone.set(name, type, data, ttlS),
    remove: (name, type) => zone.remove(name, type),
    addZone(name) {
      zone.set(name, 'NS', [`ns1.${name}`]);
      zone.set(`ns1.${name}`, isIPv6(address) ? 'AAAA' : 'A', [address]);
    },
    delegate: (name, nameServers) => zone.delegations.set(name, nameServers),
    behave(name, behaviour) {
      if (behaviour) behaviours.set(name, behaviour);
      else behaviours.delete(name);
    },
    async close() {
      const closed = Promise.all([once(udp, 'close'), once(tcp, 'close')]);
      udp.close();
      tcp.close();
      // A question that was met with silence keeps its connection open.
      for (const connection of connections) connection.destroy();
      await closed;
    },
  };
}

type Handle = (request: Packet, send: Send, transport: 'udp' | 'tcp') => void;

async function listenOnBoth(address: string, wantedPort: number, handle: Handle) {
  for (let attempt = 1; ; attempt++) {
    const tcp = dns2.createTCPServer((request, send) => handle(request, send, 'tcp'));
    const connections = new Set<Socket>();
    tcp.on('connection', (socket: Socket) => {
      connections.add(socket);
      socket.on('close', () => connections.delete(socket));
    });
    tcp.listen(wantedPort, address);
    await once(tcp, 'listening');
    const { port } = tcp.address() as AddressInfo;
    const udp = dns2.createUDPServer({ type: isIPv6(address) ? 'udp6' : 'udp4' });
    udp.on('request', (request: Packet, send: Send) => handle(request, send, 'udp'));
    try {
      udp.bind(port, address);
      await once(udp, 'listening');
      // A client that gives up resets its connection; that is none of the server's business.
      tcp.on('requestError', () => {});
      return { udp, tcp, port, connections };
    } catch (error) {
      // The port is free for TCP, but not for UDP.
      tcp.close();
      if (wantedPort !== 0 || attempt >= BIND_TRIES) throw error;
    }
  }
}

class ZoneData {
  readonly delegations = new Map<string, Record<string, string[]>>();
  readonly #records = new Map<string, Resource[]>();
  readonly #zones: string[] | null;

  constructor({ records = {}, zones }: DnsServerOptions) {
    this.#zones = zones ?? null;
    for (const [name, types] of Object.entries(records)) {
      for (const [type, data] of Object.entries(types)) this.set(name, type as RecordKind, data as never);
    }
  }

  set<K extends RecordKind>(rawName: string, type: K, data: RecordData[K], ttlS = 300): void {
    const name = rawName.toLowerCase();
    this.remove(name, type);
    const added = data.map((item) => ({ name, type: TYPE[type], class: CLASS.IN, ttl: ttlS, ...toFields(type, item) }));
    this.#records.set(name, [...(this.#records.get(name) ?? []), ...(added as Resource[])]);
  }

  remove(rawName: string, type?: RecordKind): void {
    const name = rawName.toLowerCase();
    const kept = (this.#records.get(name) ?? []).filter((record) => type !== undefined && record.type !== TYPE[type]);
    if (kept.length > 0) this.#records.set(name, kept);
    else this.#records.delete(name);
  }

  answer(request: Packet): Packet {
    const response = Packet.createResponseFromRequest(request);
    const { name: rawName, type } = request.questions[0]!;
    const name = rawName.toLowerCase();
    response.header.ra = 1;
    if (this.#zones && !this.#zones.some((zone) => isWithin(name, zone))) {
      response.header.rcode = RCODE.REFUSED;
      return response;
    }
    const cut = [...this.delegations.keys()].find((zone) => isWithin(name, zone));
    if (cut !== undefined && !request.header.rd) return this.#refer(response, cut);
    response.header.aa = 1;
    let owner = name;
    for (let aliases = 0; ; aliases++) {
      const here = this.#records.get(owner) ?? [];
      const wanted = here.filter((record) => record.type === type);
      const alias = here.find((record) => record.type === TYPE.CNAME);
      if (wanted.length > 0 || !alias) {
        response.answers.push(...wanted);
        if (wanted.length === 0) this.#deny(response, owner);
        return response;
      }
      response.answers.push(alias);
      if (aliases >= MAX_ALIASES) return response;
      owner = alias.domain!.toLowerCase();
    }
  }

  #refer(response: Packet, zone: string): Packet {
    for (const [ns, ips] of Object.entries(this.delegations.get(zone)!)) {
      response.authorities.push({ name: zone, type: TYPE.NS, class: CLASS.IN, ttl: 300, ns } as Resource);
      for (const ip of ips) {
        const type = isIPv6(ip) ? TYPE.AAAA : TYPE.A;
        response.additionals.push({ name: ns, type, class: CLASS.IN, ttl: 300, address: ip } as Resource);
      }
    }
    return response;
  }

  #deny(response: Packet, name: string): void {
    const exists = [...this.#records.keys()].some((other) => isWithin(other, name));
    if (!exists) response.header.rcode = RCODE.NXDOMAIN;
    const zone = name.split('.').slice(-2).join('.');
    const times = { serial: 1, refresh: 3600, retry: 600, expiration: 86_400, minimum: 60 };
    const soa = {
      name: zone,
      type: TYPE.SOA,
      class: CLASS.IN,
      ttl: 60,
      primary: `ns1.${zone}`,
      admin: `admin.${zone}`,
    };
    response.authorities.push({ ...soa, ...times } as Resource);
  }
}

function toFields(type: RecordKind, item: RecordData[RecordKind][number]): Partial<Resource> {
  if (type === 'TXT') return { data: (Array.isArray(item) ? item : splitText(String(item))) as string[] };
  if (typeof item === 'object' && 'exchange' in item) return { exchange: item.exchange, priority: item.preference };
  const text = String(item);
  if (type === 'NS') return { ns: text };
  return type === 'A' || type === 'AAAA' ? { address: text } : { domain: text };
}

function splitText(text: string): string[] {
  return text === '' ? [''] : (text.match(/.{1,255}/gs) ?? []);
}

function isWithin(name: string, zone: string): boolean {
  return name === zone || name.endsWith(`.${zone}`);
}
