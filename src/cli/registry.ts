// The one list of commands, in the order of the help. A command exists when it stands here.
import type { Command, StoreCommand } from './command.ts';
import { addressExplain } from './commands/address.ts';
import { bounceReply } from './commands/bounce.ts';
import { configCheck, configPrint } from './commands/config.ts';
import { backup, migrate, restore } from './commands/data.ts';
import { domainList } from './commands/domain.ts';
import { keyCreate, keyList, keyRevoke } from './commands/key.ts';
import { queueCancel, queueList, queueRetry, queueShow } from './commands/queue.ts';
import { sandbox, serve } from './commands/start.ts';
import { suppressionAdd, suppressionList, suppressionRemove } from './commands/suppression.ts';
import { tenantCreate, tenantList, tenantSet } from './commands/tenant.ts';
import { userCreate, userReset } from './commands/user.ts';

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
  suppressionList,
  suppressionAdd,
  suppressionRemove,
  addressExplain,
  bounceReply,
  backup,
  restore,
  migrate,
  configCheck,
  configPrint,
];

export function findCommand(name: string): Command | null {
  return COMMANDS.find((command) => command.name === name) ?? null;
}

/** What the control socket may ask for. */
export function findStoreCommand(name: string): StoreCommand | null {
  const command = findCommand(name);
  return command?.kind === 'store' ? command : null;
}

/** The commands of a group such as `tenant`. */
export function findGroup(group: string): Command[] {
  return COMMANDS.filter((command) => command.name.startsWith(`${group} `));
}
