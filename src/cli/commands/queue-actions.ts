// queue pause | resume | retry | cancel: one message, or all of a tenant, MX group or recipient domain.
import { userInfo } from 'node:os';
import { counted } from '../../base/text/counted.ts';
import type { ActionOutcome } from '../../delivery/actions/queue-actions.ts';
import type { StandingHold } from '../../delivery/actions/standing-holds.ts';
import { type Answer, done, failed } from '../../operator/answer.ts';
import type { OperatorServices } from '../../operator/operator-services.ts';
import type { OperatorAction, QueueTarget } from '../../store/shaping.ts';
import { storeCommand } from '../command.ts';
import { domainName, name, operatorName, positional, remark, required, tenantName, uuid } from '../option.ts';
import { recordAct } from '../record-act.ts';

const targets = {
  id: positional(uuid('ID', 'one message')),
  tenant: tenantName('all mail of this tenant'),
  group: name('GROUP', "all mail to this MX group (one provider's servers), by its name in queue list"),
  domain: domainName('all mail to this recipient domain'),
};

type Targets = { [K in keyof typeof targets]: string | undefined };

const by = operatorName(typist);

/** Behind sudo it is the person, not the service's user. */
function typist(): string | undefined {
  try {
    return process.env.SUDO_USER ?? userInfo().username;
  } catch {
    return undefined; // a user without a name
  }
}

function targetProblem({ id, tenant, group, domain }: Targets): string | null {
  const given = [id, tenant, group, domain].filter((value) => value !== undefined).length;
  if (given === 1) return null;
  const choice = 'one message ID, or one of --tenant, --group, --domain';
  return given === 0 ? `ID is missing: give ${choice}` : `give exactly one of these: ${choice}`;
}

function targetOf({ id, tenant, group, domain }: Targets): QueueTarget {
  if (id !== undefined) return { kind: 'message', key: id };
  if (tenant !== undefined) return { kind: 'tenant', key: tenant };
  return group !== undefined ? { kind: 'group', key: group } : { kind: 'domain', key: domain! };
}

interface Acted {
  /** The message's, when it was one. */
  id?: string;
  state?: string | null;
  kind: QueueTarget['kind'];
  target: string;
  /** How many were acted on; null where nobody counted. */
  messages: number | null;
  /** Whether that were all. */
  complete: boolean;
  /** What was lifted. */
  ended: string[];
  /** What still keeps them back, and the command that ends it. */
  held_by: { reason: string; command: string }[];
}

type Word = { by: string | undefined; reason: string | undefined };

async function act(
  services: OperatorServices,
  action: OperatorAction,
  values: Targets & Word & { otherwise: string },
): Promise<Answer<Acted>> {
  const target = targetOf(values);
  const word = { by: values.by ?? 'an operator', note: values.reason ?? values.otherwise };
  const outcome: ActionOutcome = await services.queue.act(action, target, word);
  if (outcome.kind === 'refused') return failed(outcome.reason);
  const about = { kind: target.kind, target: target.key, reason: word.note, by: word.by, messages: outcome.messages };
  await recordAct(services, target.kind === 'tenant' ? target.key : null, `queue.${action}`, about);
  const { messages, complete, ended, held } = outcome;
  const state = target.kind === 'message' ? ((await services.store.queue.getMessage(target.key))?.state ?? null) : null;
  const one = target.kind === 'message' ? { id: target.key, state } : {};
  return done({
    ...one,
    kind: target.kind,
    target: target.key,
    messages,
    complete,
    ended,
    held_by: held.map(showHold),
  });
}

function showHold({ kind, key, how, reason }: StandingHold): Acted['held_by'][number] {
  const command = how === 'paused' ? `queue resume --${kind} ${key}` : `tenant set ${key} --status active`;
  return { reason, command: `postrider ${command}` };
}

function retried(acted: Acted): string {
  const due = acted.kind === 'message' ? `${nameOf(acted)} is due now.` : countOf(acted, 'due now');
  if (acted.held_by.length === 0) return due;
  const held = acted.held_by.map(({ reason, command }) => `- ${reason}\n  To resume: ${command}`);
  const kept = acted.messages === 0 ? 'No other message became due. The waiting mail' : `${due} But it`;
  return [`${kept} is held because`, ...held].join('\n');
}

function resumed(acted: Acted): string {
  const { messages, complete, kind, target, ended, held_by: heldBy } = acted;
  const due = messages ? [`${counted(messages, 'message')} held by the pause: due now.`] : [];
  const retry = `postrider queue retry --${kind} ${target}`;
  const rest = complete
    ? 'Messages waiting for their own retry time'
    : 'More messages are held: they, and those waiting for their own retry time,';
  const own = kind === 'message' ? [] : [`${rest} become due by: ${retry}`];
  const held = heldBy.map(({ reason, command }) => `- ${reason}\n  To resume: ${command}`);
  const still = held.length === 0 ? [] : ['Mail is still held because', ...held];
  return [`${nameOf(acted)} is resumed. Ended:`, ...ended.map((each) => `- ${each}`), ...due, ...own, ...still].join(
    '\n',
  );
}

function nameOf({ kind, target }: Acted): string {
  return kind === 'message' ? `Message ${target}` : `Mail of the ${kind} ${target}`;
}

function countOf({ messages, complete }: Acted, what: string): string {
  const more = complete ? '' : ' More remain: run the command again.';
  return `${counted(messages ?? 0, 'message')} ${what}.${more}`;
}

export const queuePause = storeCommand({
  name: 'queue pause',
  summary: 'Holds waiting mail until queue resume, or the end of its lifetime. Deliveries in progress finish.',
  options: { ...targets, reason: required(remark('TEXT', 'the reason, shown to other operators')), by },
  check: targetProblem,
  run: (services, values) => act(services, 'pause', { ...values, otherwise: '' }),
  render: (acted) => `${nameOf(acted)} is paused.`,
});

export const queueResume = storeCommand({
  name: 'queue resume',
  summary: "Ends a pause and every limit that receivers' replies caused: suspensions, cool-downs, fewer connections.",
  options: { ...targets, reason: remark('TEXT', 'the reason, for the audit log'), by },
  check: targetProblem,
  run: (services, values) => act(services, 'resume', { ...values, otherwise: 'resumed by the operator' }),
  render: resumed,
});

export const queueRetry = storeCommand({
  name: 'queue retry',
  summary: "Makes waiting messages due now. Given a parked message's ID, retries it.",
  options: { ...targets, reason: remark('TEXT', 'the reason, for the audit log'), by },
  check: targetProblem,
  run: (services, values) => act(services, 'retry', { ...values, otherwise: 'retried by the operator' }),
  render: retried,
});

export const queueCancel = storeCommand({
  name: 'queue cancel',
  summary: 'Cancels waiting messages: they are never sent, and their tenants receive email.canceled.',
  options: { ...targets, reason: remark('TEXT', 'the reason, shown to the tenant'), by },
  check: targetProblem,
  run: (services, values) => act(services, 'cancel', { ...values, otherwise: 'canceled by the operator' }),
  render: (acted) => (acted.kind === 'message' ? `${nameOf(acted)} is canceled.` : countOf(acted, 'canceled')),
});
