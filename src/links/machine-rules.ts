// How opens and clicks of machines are recognized, as data (config/machine-opens.toml), and which rule matches a
// request. The store judges by time (decide-hits.ts).

import { readFileSync } from 'node:fs';
import { BlockList, isIP } from 'node:net';
import { fileURLToPath } from 'node:url';
import { parse } from 'smol-toml';
import { MINUTE_MS, SECOND_MS } from '../base/clock.ts';
import { describeError, Fault } from '../base/errors.ts';
import type { MachineTiming } from '../store/tracking.ts';

type HitKind = 'open' | 'click';

interface MachineRule {
  id: string;
  on: readonly HitKind[];
  reason: string;
  agentIs: readonly string[];
  /** In lower case. */
  agentHas: readonly string[];
  /** Null: from any address. */
  networks: Networks | null;
  samples: readonly MachineSample[];
}

interface MachineSample {
  agent: string;
  ip: string;
}

export interface MachineRules {
  rules: readonly MachineRule[];
  /** Of all rules together: nearly every request is from none of them, and a single look-up shows it. */
  networks: Networks;
  timing: MachineTiming;
}

interface Fetcher {
  ip: string;
  userAgent: string | null;
}

/** The first rule that matches, or null. */
export function findMachineRule(
  { rules, networks }: MachineRules,
  kind: HitKind,
  fetcher: Fetcher,
): MachineRule | null {
  const agent = fetcher.userAgent?.trim() ?? '';
  const lowerAgent = agent.toLowerCase();
  const isFromListed = networks.contains(fetcher.ip);
  const matches = (rule: MachineRule) =>
    rule.on.includes(kind) &&
    (rule.networks === null || (isFromListed && rule.networks.contains(fetcher.ip))) &&
    matchesAgent(rule, agent, lowerAgent);
  return rules.find(matches) ?? null;
}

/** Only the rules that may match a request with this User-Agent: mostly few. */
export function rulesForAgent({ rules, networks, timing }: MachineRules, userAgent: string | null): MachineRules {
  const agent = userAgent?.trim() ?? '';
  const lowerAgent = agent.toLowerCase();
  return { rules: rules.filter((rule) => matchesAgent(rule, agent, lowerAgent)), networks, timing };
}

function matchesAgent({ agentIs, agentHas }: MachineRule, agent: string, lowerAgent: string): boolean {
  if (agentIs.length === 0 && agentHas.length === 0) return true;
  return agentIs.includes(agent) || agentHas.some((part) => lowerAgent.includes(part));
}

/** A BlockList makes an object of each address that is looked up, at 2 µs: most are IPv4, and here take a tenth. */
class Networks {
  readonly #ofIpv4: { prefix: number; mask: number }[] = [];
  /** All of them: IPv6 has many spellings. */
  readonly #all = new BlockList();

  add(address: string, bits: number): void {
    this.#all.addSubnet(address, bits, isIP(address) === 4 ? 'ipv4' : 'ipv6');
    const value = ipv4Value(address);
    if (value === null) return;
    const mask = bits === 0 ? 0 : -1 << (32 - bits);
    this.#ofIpv4.push({ prefix: value & mask, mask });
  }

  contains(ip: string): boolean {
    const value = ipv4Value(ip);
    if (value !== null) return this.#ofIpv4.some(({ prefix, mask }) => (value & mask) === prefix);
    return isIP(ip) === 6 && this.#all.check(ip, 'ipv6');
  }
}

const [DOT, ZERO] = [0x2e, 0x30];

/** As a signed 32-bit integer; null: it is not an IPv4 address. */
function ipv4Value(ip: string): number | null {
  let [value, part, digits, dots] = [0, 0, 0, 0];
  for (let at = 0; at < ip.length; at++) {
    const char = ip.charCodeAt(at);
    if (char === DOT) {
      if (digits === 0 || ++dots > 3) return null;
      value = (value << 8) | part;
      part = digits = 0;
    } else {
      const digit = char - ZERO;
      if (digit < 0 || digit > 9 || ++digits > 3) return null;
      part = part * 10 + digit;
      if (part > 255) return null;
    }
  }
  return dots === 3 && digits > 0 ? (value << 8) | part : null;
}

// Reads config/machine-opens.toml. Every problem of the file is reported with its rule; a file with a problem stops
// the start.

export const SHIPPED_MACHINE_RULES = fileURLToPath(new URL('../../config/machine-opens.toml', import.meta.url));

export function loadMachineRules(file: string): MachineRules {
  return parseMachineRules(readFileSync(file, 'utf8'), file);
}

type Complain = (problem: string) => void;

/** Throws a Fault with all problems. */
export function parseMachineRules(toml: string, file: string): MachineRules {
  const problems: string[] = [];
  let document: Record<string, unknown> = {};
  try {
    document = parse(toml);
  } catch (error) {
    problems.push(describeError(error).split('\n')[0]!);
  }
  const { rule: tables = [], timing, ...others } = document;
  for (const name of Object.keys(others)) problems.push(`${name}: only [timing] and [[rule]] are allowed`);
  const networks = new Networks();
  const context = { problems, networks };
  const rules = Array.isArray(tables) ? tables.map((table, index) => readRule(table, index, context)) : [];
  if (rules.length === 0) problems.push('at least one [[rule]] is required');
  const ids = rules.map(({ id }) => id);
  for (const id of new Set(ids.filter((id, at) => ids.indexOf(id) !== at))) problems.push(`${id}: is defined twice`);
  const readTimes = readTiming(timing ?? {}, (problem) => void problems.push(`timing: ${problem}`));
  if (problems.length === 0) return { rules, timing: readTimes, networks };
  const text = problems.map((problem) => `  ${problem}`).join('\n');
  throw new Fault(`${file} cannot be used:\n${text}`, { permanence: 'permanent' });
}

const RULE_KEYS = new Set(['id', 'on', 'reason', 'agent_is', 'agent_has', 'networks', 'samples']);
const ID = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const KINDS: Readonly<Record<string, readonly HitKind[]>> = {
  open: ['open'],
  click: ['click'],
  both: ['open', 'click'],
};

interface ReadContext {
  problems: string[];
  /** Collects the networks of all rules. */
  networks: Networks;
}

function readRule(table: unknown, index: number, { problems, networks: all }: ReadContext): MachineRule {
  const fields = table as Record<string, unknown>;
  const id = typeof fields.id === 'string' && ID.test(fields.id) ? fields.id : `rule ${index + 1}`;
  const complain = (problem: string) => void problems.push(`${id}: ${problem}`);
  if (id !== fields.id) complain('id is missing or not in kebab-case');
  for (const key of Object.keys(fields)) if (!RULE_KEYS.has(key)) complain(`unknown key ${key}`);
  const on = KINDS[String(fields.on)];
  if (!on) complain('on must be open, click or both');
  const { reason } = fields;
  if (typeof reason !== 'string' || !reason.endsWith('.')) complain('reason must be a sentence with a full stop');
  const agentIs = readTexts(fields.agent_is, 'agent_is', complain);
  const agentHas = readTexts(fields.agent_has, 'agent_has', complain).map((part) => part.toLowerCase());
  if (agentHas.includes('')) complain('agent_has: an empty text is in every User-Agent');
  const networks = readNetworks(fields.networks, all, complain);
  if (agentIs.length + agentHas.length === 0 && !networks)
    complain('without agents and networks it would match everything');
  const samples = readSamples(fields.samples, complain);
  return { id, on: on ?? [], reason: String(reason), agentIs, agentHas, networks, samples };
}

function readTexts(value: unknown, key: string, complain: Complain): string[] {
  if (value === undefined) return [];
  const texts: unknown[] = Array.isArray(value) ? value : [null];
  if (texts.length === 0 || !texts.every((text) => typeof text === 'string'))
    complain(`${key} must be a list of strings`);
  return texts.filter((text) => typeof text === 'string');
}

function readNetworks(value: unknown, all: Networks, complain: Complain): Networks | null {
  if (value === undefined) return null;
  const networks = new Networks();
  for (const network of readTexts(value, 'networks', complain)) {
    const [address = '', bits = ''] = network.split('/');
    const family = isIP(address);
    const isNetwork = family !== 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128);
    if (!isNetwork) complain(`${network} is not a network`);
    else for (const list of [networks, all]) list.add(address, Number(bits));
  }
  return networks;
}

function readSamples(value: unknown, complain: Complain): MachineSample[] {
  const samples = Array.isArray(value) ? (value as Partial<MachineSample>[]) : [];
  if (samples.length === 0) complain('at least one sample is required');
  return samples.map(({ agent, ip }) => {
    if (typeof agent !== 'string' || typeof ip !== 'string' || isIP(ip) === 0)
      complain('a sample needs an agent and an ip');
    return { agent: String(agent), ip: String(ip) };
  });
}

const DURATION = /^(\d{1,4})([sm])$/;
const UNIT_MS = { s: SECOND_MS, m: MINUTE_MS } as const;
const TIMING_KEYS = new Set(['before_delivery', 'burst_links', 'burst_within', 'burst_after_delivery']);
const MAX_BURST_LINKS = 100;

function readTiming(table: unknown, complain: Complain): MachineTiming {
  const fields = table as Record<string, unknown>;
  for (const key of Object.keys(fields)) if (!TIMING_KEYS.has(key)) complain(`unknown key ${key}`);
  const duration = (key: string) => {
    const match = DURATION.exec(String(fields[key]));
    if (!match) complain(`${key} must be a duration such as 2s or 5m`);
    return match ? Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS] : 0;
  };
  const burstLinks = Number(fields.burst_links);
  if (!Number.isInteger(burstLinks) || burstLinks < 2 || burstLinks > MAX_BURST_LINKS) {
    complain(`burst_links must be an integer from 2 to ${MAX_BURST_LINKS}`);
  }
  return {
    beforeDeliveryMs: duration('before_delivery'),
    burstLinks,
    burstWithinMs: duration('burst_within'),
    burstAfterDeliveryMs: duration('burst_after_delivery'),
  };
}
