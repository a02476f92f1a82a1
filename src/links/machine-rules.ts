// What opens and clicks of machines look like, as data (config/machine-opens.toml), and which rule
// fits a request. What only time tells apart is in decide-hits.ts.
import { type BlockList, isIP } from 'node:net';

export type HitKind = 'open' | 'click';

export interface MachineRule {
  id: string;
  on: readonly HitKind[];
  reason: string;
  agentIs: readonly string[];
  /** In lower case. */
  agentHas: readonly string[];
  /** Null: from anywhere. */
  networks: BlockList | null;
  samples: readonly MachineSample[];
}

export interface MachineSample {
  agent: string;
  ip: string;
}

/** How scanners are told apart that call themselves browsers. */
export interface MachineTiming {
  beforeDeliveryMs: number;
  burstLinks: number;
  burstWithinMs: number;
  burstAfterDeliveryMs: number;
}

export interface MachineRules {
  rules: readonly MachineRule[];
  /** Of all rules together: nearly every request is from none of them, and one look says so. */
  networks: BlockList;
  timing: MachineTiming;
}

export interface Fetcher {
  ip: string;
  userAgent: string | null;
}

/** The first rule that fits, or null. */
export function findMachineRule(
  { rules, networks }: MachineRules,
  kind: HitKind,
  fetcher: Fetcher,
): MachineRule | null {
  const agent = fetcher.userAgent?.trim() ?? '';
  const lowerAgent = agent.toLowerCase();
  const isFromListed = holds(networks, fetcher.ip);
  const fits = (rule: MachineRule) =>
    rule.on.includes(kind) &&
    (rule.networks === null || (isFromListed && holds(rule.networks, fetcher.ip))) &&
    fitsAgent(rule, agent, lowerAgent);
  return rules.find(fits) ?? null;
}

/** Those rules alone that may fit a request with this User-Agent: mostly few are left. */
export function rulesForAgent({ rules, networks, timing }: MachineRules, userAgent: string | null): MachineRules {
  const agent = userAgent?.trim() ?? '';
  const lowerAgent = agent.toLowerCase();
  return { rules: rules.filter((rule) => fitsAgent(rule, agent, lowerAgent)), networks, timing };
}

function fitsAgent({ agentIs, agentHas }: MachineRule, agent: string, lowerAgent: string): boolean {
  if (agentIs.length === 0 && agentHas.length === 0) return true;
  return agentIs.includes(agent) || agentHas.some((part) => lowerAgent.includes(part));
}

function holds(networks: BlockList, ip: string): boolean {
  const family = isIP(ip);
  return family !== 0 && networks.check(ip, family === 4 ? 'ipv4' : 'ipv6');
}
