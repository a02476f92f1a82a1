// Set-up from a bare machine to a service that sends, in steps that each leave what they find and add what is missing:
// the machine is checked, questions are asked, the configuration is written, user and unit are made and the daemon
// started, the first accounts are created, and the DNS records are shown and waited for. Before the configuration is
// written, nothing is changed.
import type { LoadedConfig } from '../../config/load.ts';
import type { Finding } from '../../doctor/finding.ts';
import type { CheckedRecord } from '../../domains/check-needed.ts';
import { type Answer, failed, wrongUsage } from '../../operator/answer.ts';
import type { DnsPlan } from '../../operator/dns-needs.ts';
import type { LocalContext } from '../command.ts';
import { checkedTable, neededTable, notesOf, shown, waitForAll } from '../dns-report.ts';
import { linesOfFinding } from '../finding-lines.ts';
import { runWhereTheWriterIs } from '../with-services.ts';
import { type Written, writeConfigFile } from './config-file.ts';
import { type FirstAccounts, firstAccounts } from './first-accounts.ts';
import {
  type AllAnswers,
  differences,
  type GatherKit,
  type Given,
  gatherMachine,
  gatherService,
  type MachineAnswers,
  valuesToSet,
} from './gather.ts';
import { createQuestions, type MissingFlag, type Questions } from './questions.ts';
import { runAsService, serviceBarrier } from './service.ts';

export interface SetupOptions extends Given {
  yes?: true | undefined;
  wait?: true | undefined;
}

export interface SetupResult {
  file: string;
  written: Written;
  findings: Finding[];
  accounts: FirstAccounts;
  records: CheckedRecord[];
  notes: string[];
  /** Aborted when the person who waits has enough; null: nobody waits, or no longer. */
  waiting: AbortSignal | null;
  zone: string;
  answers: AllAnswers;
  loaded: LoadedConfig;
}

type Ended = Answer<never>;

/** Only failures of these make all that follows pointless; a reverse name is among the records that set-up shows. */
const VITAL = new Set(['resolver', 'known domains', 'clock', 'outbound port', 'blocklist']);

export async function runSetup(context: LocalContext, given: SetupOptions): Promise<SetupResult | Ended> {
  const barrier = await serviceBarrier(context);
  if (barrier !== null) return failed(`${barrier}, and run postrider setup there; nothing was changed`);
  const file = await fileOf(context);
  const questions = createQuestions(context.terminal, given.yes ?? false);
  const kit = await gatherKit(context, { file, given, questions });
  const gathered = await gather(context, kit);
  questions.pause();
  if ('kind' in gathered) return gathered;
  const { answers, machine, findings } = gathered;
  const notes = [...differences(kit), ...machine.notes];

  const values = valuesToSet(kit, answers);
  const written = writeConfigFile(file, values);
  say(context, `\n${fileWords(written, file)}`);
  const loaded = await context.draftConfig(file, {});
  const service = await runAsService(context, { loaded, written });
  if (service.problem !== null) return failed(`${service.problem}. Then run postrider setup again`);
  notes.push(...service.notes);

  const accounts = await makeAccounts(context, { loaded, answers, given });
  if ('kind' in accounts) return accounts;
  say(context, accountWords(accounts));
  const { records, zone, plan, signal } = await settleRecords(context, { loaded, machine, given });
  return {
    file,
    written,
    findings,
    accounts,
    records,
    waiting: signal,
    notes: [...notes, ...notesOf(plan)],
    zone,
    answers,
    loaded,
  };
}

function say({ json, print }: Pick<LocalContext, 'json' | 'print'>, text: string): void {
  if (!json) print(text);
}

async function fileOf({ configFile }: LocalContext): Promise<string> {
  const { DEFAULT_FILE } = await import('../../config/load.ts');
  const path = await import('node:path');
  return configFile === null ? DEFAULT_FILE : path.resolve(configFile);
}

interface Begin {
  file: string;
  given: SetupOptions;
  questions: Questions;
}

async function gatherKit(context: LocalContext, { file, given, questions }: Begin): Promise<GatherKit> {
  const { existsSync } = await import('node:fs');
  const existing = existsSync(file) ? file : null;
  const loaded = await context.draftConfig(existing, {});
  const { dnsLookups, planDns } = await import('../../operator/dns-needs.ts');
  const { storedAccounts } = await import('../../operator/stored-accounts.ts');
  const { checkOwnName } = await import('../../protocol/dns/own-name.ts');
  const { machineAddresses } = await import('../../protocol/dns/addresses/own-addresses.ts');
  const lookups = dnsLookups(loaded.config);
  return {
    given,
    questions,
    loaded,
    draft: (values) => context.draftConfig(existing, Object.fromEntries(values)),
    plan: (config, addresses) => planDns(config, { scope: { kind: 'service' }, addresses }, lookups),
    async nameOf(ip) {
      const found = await checkOwnName(ip, lookups);
      return found.kind === 'good' ? found.name : null;
    },
    publicAddresses: given.address ?? machineAddresses().public,
    stored: await storedAccounts(loaded.config),
  };
}

interface Gathered {
  answers: AllAnswers;
  machine: MachineAnswers;
  findings: Finding[];
}

/** A person hears of a machine that can't send before the other questions; a script gets all that it lacks at once. */
async function gather(context: LocalContext, kit: GatherKit): Promise<Gathered | Ended> {
  const { questions } = kit;
  const machine = await gatherMachine(kit);
  const isAsking = context.terminal !== null && !(kit.given as SetupOptions).yes;
  let findings = isAsking && questions.endedAt === null ? await checkMachine(context, kit, machine) : null;
  if (findings && isAsking && findings.some(isVital)) {
    const goesOn = await questions.confirm('Mail will not arrive before that is solved. Go on all the same');
    if (!goesOn) return failed('stopped; nothing was changed. Solve that, then run postrider setup again');
  }
  const { likelyZone } = await import('../../domains/host-names.ts');
  const zone = machine.host === null ? null : likelyZone(machine.host);
  const service = await gatherService(kit, machine.host, zone);
  if (questions.endedAt !== null)
    return failed(`stopped at "${questions.endedAt}"; nothing was changed. Run postrider setup again to go on`);
  if (questions.missing.length > 0) return wrongUsage(missingWords(questions.missing));
  findings ??= await checkMachine(context, kit, machine);
  const { host, addresses } = machine;
  return { answers: { host, addresses, ...service }, machine, findings };
}

function isVital({ health, check }: Finding): boolean {
  return health === 'fail' && VITAL.has(check);
}

function missingWords(missing: readonly MissingFlag[]): string {
  const flags = (some: readonly MissingFlag[]) => some.map(({ flag }) => `--${flag}`).join(', ');
  const optional = missing.filter(({ hasDefault }) => hasDefault);
  const rest = optional.length > 0 ? `. --yes takes the defaults of ${flags(optional)}` : '';
  return `nothing can be asked here, so these are missing: ${flags(missing)}${rest}`;
}

async function checkMachine(context: LocalContext, kit: GatherKit, machine: MachineAnswers): Promise<Finding[]> {
  kit.questions.pause();
  say(context, '\nChecking port 25, reverse names, blocklists, DNS and the clock …');
  const { examineMachine } = await import('../../doctor/examine.ts');
  const { doctorKit } = await import('../../operator/doctor-kit.ts');
  const findings = await examineMachine(doctorKit(machine.config!), machine.addresses);
  say(context, `${findings.flatMap(linesOfFinding).join('\n')}\n`);
  return findings;
}

function fileWords(written: Written, file: string): string {
  if (written === 'unchanged') return `${file} has all that is needed, and was not changed.`;
  return written === 'created' ? `${file} was written.` : `${file} has got what was missing.`;
}

interface AccountsAsk {
  loaded: LoadedConfig;
  answers: AllAnswers;
  given: Given;
}

async function makeAccounts(
  { complain }: LocalContext,
  { loaded, answers: { operator, tenant, domain }, given }: AccountsAsk,
): Promise<FirstAccounts | Ended> {
  const raw: Record<string, string | true> = {};
  if (operator !== null) raw.operator = operator;
  if (given.operator === undefined && loaded.config.service.operator_address !== null) raw['first-only'] = true;
  if (tenant !== null) raw.tenant = tenant;
  if (domain !== null) raw.domain = domain;
  const answer = await runWhereTheWriterIs(firstAccounts, raw, { config: loaded.config, say: complain });
  return answer.kind === 'done' ? (answer.result as FirstAccounts) : answer;
}

function accountWords({ login, tenant, domain, key }: FirstAccounts): string {
  const lines = [
    login &&
      (login.password === null ? `Login ${login.email} exists.` : `Login ${login.email}, password ${login.password}`),
    tenant && `Tenant ${tenant.name} ${tenant.created ? 'was created' : 'exists'}.`,
    domain && `Domain ${domain.name} ${domain.created ? 'was registered' : 'is registered'}.`,
    tenant &&
      (key === null ? `${tenant.name} has an API key already; postrider key create makes another.` : `API key ${key}`),
    login?.password || key ? 'Password and key are shown only once.' : null,
  ];
  return lines.filter((line) => line !== null).join('\n');
}

interface RecordsAsk {
  loaded: LoadedConfig;
  machine: MachineAnswers;
  given: SetupOptions;
}

interface Settled {
  records: CheckedRecord[];
  zone: string;
  plan: DnsPlan;
  /** Of the person who waits; null: nobody does, or no longer. */
  signal: AbortSignal | null;
}

async function settleRecords(context: LocalContext, { loaded, machine, given }: RecordsAsk): Promise<Settled> {
  const { dnsLookups, planDns } = await import('../../operator/dns-needs.ts');
  const { neededRecords } = await import('../../domains/needed-records.ts');
  const { checkNeeded } = await import('../../domains/check-needed.ts');
  const { zoneFileOf } = await import('../../domains/zone-file.ts');
  const { config } = loaded;
  const lookups = dnsLookups(config);
  const addresses = machine.addresses.map(({ ip }) => ip);
  const plan = () => planDns(config, { scope: { kind: 'all' }, addresses }, lookups);
  const first = await plan();
  const needed = neededRecords(first.needs);
  const zone = zoneFileOf(needed);
  say(
    context,
    `\nPublish these DNS records:\n\n${neededTable(needed.map(shown))}\n\nThe same as a zone file:\n\n${zone}`,
  );
  say(context, 'What DNS has now:\n');
  const look = (needs: DnsPlan['needs']) => checkNeeded(needs, lookups);
  if (given.wait || (context.terminal !== null && !given.yes)) {
    const signal = context.interruption();
    const records = await waitForAll(context, { first, plan, look, signal, isBrief: true });
    // The terminal has shown ^C.
    if (signal.aborted) say(context, '');
    return { records, zone, plan: first, signal: signal.aborted ? null : signal };
  }
  const records = await look(first.needs);
  say(context, checkedTable(records.map(shown), true));
  return { records, zone, plan: first, signal: null };
}
