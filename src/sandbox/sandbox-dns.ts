// The DNS server of the sandbox: resolver and authority in one, over UDP and TCP on one port of
// loopback (RFC 1035 section 4.2, RFC 6891, RFC 7766). What it says is in sandbox-zone.ts.
// No recursion to anywhere, no zone transfers, no DNSSEC.
import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import {
  AUTHORITATIVE_ANSWER,
  type DecodedPacket,
  decode,
  encode,
  type Packet,
  RECURSION_AVAILABLE,
  RECURSION_DESIRED,
  TRUNCATED_RESPONSE,
} from 'dns-packet';
import { SECOND_MS } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import type { Logger } from '../observe/log.ts';
import { RCODE } from '../protocol/dns/lookup/wire.ts';
import { answerQuestion, type SandboxZone, type ZoneAnswer } from './sandbox-zone.ts';

export interface SandboxDns {
  port: number;
  close(): Promise<void>;
}

export interface SandboxDnsOptions {
  zone: SandboxZone;
  log: Logger;
}

const ADDRESS = '127.0.0.1';
const BIND_TRIES = 20;
const TCP_IDLE_MS = 10 * SECOND_MS;
const MAX_TCP_CLIENTS = 100;
/** RFC 1035 section 4.2.1, for clients that do not name a larger size. */
const PLAIN_UDP_OCTETS = 512;
/** What we announce, and the most that we send in one datagram (DNS flag day 2020). */
const MAX_UDP_OCTETS = 1232;

type Respond = (query: Buffer, maxOctets: (query: DecodedPacket) => number) => Promise<Buffer | null>;

export async function startSandboxDns({ zone, log }: SandboxDnsOptions): Promise<SandboxDns> {
  const respond: Respond = async (bytes, maxOctets) => {
    const query = readQuery(bytes);
    return query && fit(await replyTo(query, zone, log), query, maxOctets(query));
  };
  const clients = new Set<Socket>();
  let closed = false;
  const { udp, tcp, port } = await listenOnBoth();
  udp.on('message', async (bytes, peer) => {
    const reply = await respond(bytes, udpLimit);
    if (reply && !closed) udp.send(reply, peer.port, peer.address);
  });
  udp.on('error', (error) => log.warn({ error }, `sandbox DNS: ${describeError(error)}`));
  tcp.on('connection', (client) => serveClient(client, clients, respond));
  return {
    port,
    async close() {
      closed = true;
      const done = Promise.all([once(udp, 'close'), once(tcp, 'close')]);
      udp.close();
      tcp.close();
      for (const client of clients) client.destroy();
      await done;
    },
  };
}

/** A truncated answer over UDP is asked for again over TCP, at the same port. */
async function listenOnBoth(): Promise<{ udp: UdpSocket; tcp: Server; port: number }> {
  for (let tries = 1; ; tries++) {
    const tcp = createServer();
    tcp.maxConnections = MAX_TCP_CLIENTS;
    tcp.listen(0, ADDRESS);
    await once(tcp, 'listening');
    const { port } = tcp.address() as AddressInfo;
    const udp = createSocket('udp4');
    try {
      udp.bind(port, ADDRESS);
      await once(udp, 'listening');
      return { udp, tcp, port };
    } catch (error) {
      // The port is free for TCP, but not for UDP.
      tcp.close();
      if (tries >= BIND_TRIES) throw error;
    }
  }
}

function serveClient(client: Socket, clients: Set<Socket>, respond: Respond): void {
  clients.add(client);
  let received: Buffer = Buffer.alloc(0);
  client.on('close', () => clients.delete(client));
  client.on('error', () => client.destroy());
  client.setTimeout(TCP_IDLE_MS, () => client.destroy());
  client.on('data', async (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    // RFC 1035 section 4.2.2: two octets of length before each message, so at most 64 KiB wait here.
    while (received.length >= 2 && received.length >= 2 + received.readUInt16BE(0)) {
      const end = 2 + received.readUInt16BE(0);
      const query = received.subarray(2, end);
      received = received.subarray(end);
      const reply = await respond(query, () => 0xffff);
      if (!reply) return client.destroy();
      const length = Buffer.alloc(2);
      length.writeUInt16BE(reply.length);
      if (client.writable) client.write(Buffer.concat([length, reply]));
    }
  });
}

/** Null for what is no query: it gets no answer. */
function readQuery(bytes: Buffer): DecodedPacket | null {
  try {
    const packet = decode(bytes);
    return packet.flag_qr ? null : packet;
  } catch {
    return null;
  }
}

async function replyTo(query: DecodedPacket, zone: SandboxZone, log: Logger): Promise<Packet> {
  const [question, ...more] = query.questions ?? [];
  // The operation code has four bits behind the QR bit; 0 is a plain question.
  const opcode = ((query.flags ?? 0) >> 11) & 0xf;
  if (opcode !== 0) return reply(query, refusal(RCODE.NOTIMP));
  if (!question || more.length > 0) return reply(query, refusal(RCODE.FORMERR));
  if (question.class !== 'IN') return reply(query, refusal(RCODE.REFUSED));
  try {
    return reply(query, await answerQuestion(question, zone));
  } catch (error) {
    log.error({ error, name: question.name }, `sandbox DNS: ${describeError(error)}`);
    return reply(query, refusal(RCODE.SERVFAIL));
  }
}

function refusal(rcode: number): ZoneAnswer {
  return { rcode, aa: false, answers: [], authorities: [] };
}

function reply(query: DecodedPacket, { rcode, aa, answers, authorities }: ZoneAnswer): Packet {
  const recursion = query.flag_rd ? RECURSION_DESIRED : 0;
  return {
    type: 'response',
    id: query.id ?? 0,
    flags: RECURSION_AVAILABLE | recursion | (aa ? AUTHORITATIVE_ANSWER : 0) | rcode,
    questions: query.questions ?? [],
    answers,
    authorities,
    // RFC 6891 section 7: whoever speaks EDNS is answered in it.
    additionals: announcedSize(query) === null ? [] : [EDNS],
  };
}

const EDNS = {
  type: 'OPT',
  name: '.',
  udpPayloadSize: MAX_UDP_OCTETS,
  extendedRcode: 0,
  ednsVersion: 0,
  flags: 0,
  flag_do: false,
  options: [],
} satisfies NonNullable<Packet['additionals']>[number];

function fit(packet: Packet, query: DecodedPacket, maxOctets: number): Buffer {
  const whole = encode(packet);
  if (whole.length <= maxOctets) return whole;
  const flags = (packet.flags ?? 0) | TRUNCATED_RESPONSE;
  return encode({ ...packet, id: query.id ?? 0, flags, answers: [], authorities: [] });
}

function udpLimit(query: DecodedPacket): number {
  return Math.min(Math.max(announcedSize(query) ?? 0, PLAIN_UDP_OCTETS), MAX_UDP_OCTETS);
}

/** Null when the query has no EDNS. */
function announcedSize(query: DecodedPacket): number | null {
  const opt = query.additionals?.find((record) => record.type === 'OPT');
  return opt?.type === 'OPT' ? opt.udpPayloadSize : null;
}
