// The one list of commands, in the order of the help. A command exists when it stands here.
import type { Command, StoreCommand } from './command.ts';
import { addressExplain } from './commands/address.ts';
import { bounceExplain, bounceReply } from './commands/bounce.ts';
import { configCheck, configPrint } from './commands/config.ts';
import { backup, migrate, restore } from './commands/data.ts';
import { dmarcList, dmarcShow } from './commands/dmarc.ts';
import { doctor, doctorDaemon } from './commands/doctor.ts';
import { domainList } from './commands/domain.ts';
import { inboundList, inboundShow } from './commands/inbound.ts';
import { keyCreate, keyList, keyRevoke } from './commands/key.ts';
import { queueList } from './commands/queue.ts';
import { queueCancel, queuePause, queueResume, queueRetry } from './commands/queue-actions.ts';
import { queueShow } from './commands/queue-show.ts';
import { queueSources } from './commands/queue-sources.ts';
import { sandbox, serve } from './commands/start.ts';
import {
  suppressionAdd,
  suppressionDoubts,
  suppressionList,
  suppressionRemove,
  suppressionTrust,
} from './commands/suppression.ts';
import { suppressionExport, suppressionImport, suppressionImportRows } from './commands/suppression-csv.ts';
import { tenantCreate, tenantList, tenantSet } from './commands/tenant.ts';
import { userCreate, userReset } from './commands/user.ts';
import { webhookAttempts, webhookList, webhookReplay, webhookRotate } from './commands/webhook.ts';

export const COMMANDS: readonly Command[] = [
  serve,
  sandbox,
  tenantCreate,
  tenantList,
  tenantSet,
  userCreate,
  userReset,
  keyCreate,
  keyList,
  keyRevoke,
  domainList,
  queueList,
  queueShow,
  queueRetry,
  queueCancel,
  queuePause,
  queueResume,
  queueSources,
  suppressionList,
  suppressionAdd,
  suppressionRemove,
  suppressionImport,
  suppressionExport,
  suppressionDoubts,
  suppressionTrust,
  webhookList,
  webhookAttempts,
  webhookReplay,
  webhookRotate,
  inboundList,
  inboundShow,
  dmarcList,
  dmarcShow,
  addressExplain,
  bounceReply,
  bounceExplain,
  doctor,
  doctorDaemon,
  backup,
  restore,
  migrate,
  configCheck,
  configPrint,
];

export function findCommand(name: string): Command | null {
  return COMMANDS.find((command) => command.name === name) ?? null;
}

/** Steps of commands, which only other code of ours asks for. */
const STEPS: readonly StoreCommand[] = [suppressionImportRows];

/** What the control socket may ask for. */
export function findStoreCommand(name: string): StoreCommand | null {
  const command = findCommand(name) ?? STEPS.find((step) => step.name === name);
  return command?.kind === 'store' ? command : null;
}

/** The commands of a group such as `tenant`. */
export function findGroup(group: string): Command[] {
  return COMMANDS.filter((command) => command.name.startsWith(`${group} `));
}
