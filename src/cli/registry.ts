// The one list of commands, in the order of the help. A command exists when it is listed here.
// Each is loaded when it is asked for, so that a command costs what it needs and not what the others need.
import type { RunCommand } from '../operator/control/control-server.ts';
import type { Command } from './command.ts';

/** Named as they are typed; a test compares with the name that the command gives itself. */
const LOADERS: Readonly<Record<string, () => Promise<Command>>> = {
  serve: async () => (await import('./commands/start.ts')).serve,
  sandbox: async () => (await import('./commands/start.ts')).sandbox,
  setup: async () => (await import('./commands/setup.ts')).setup,
  'tenant create': async () => (await import('./commands/tenant.ts')).tenantCreate,
  'tenant list': async () => (await import('./commands/tenant.ts')).tenantList,
  'tenant show': async () => (await import('./commands/tenant.ts')).tenantShow,
  'tenant set': async () => (await import('./commands/tenant.ts')).tenantSet,
  'user create': async () => (await import('./commands/user.ts')).userCreate,
  'user reset': async () => (await import('./commands/user.ts')).userReset,
  'key create': async () => (await import('./commands/key.ts')).keyCreate,
  'key list': async () => (await import('./commands/key.ts')).keyList,
  'key revoke': async () => (await import('./commands/key.ts')).keyRevoke,
  'domain add': async () => (await import('./commands/domain.ts')).domainAdd,
  'domain records': async () => (await import('./commands/domain.ts')).domainRecords,
  'domain verify': async () => (await import('./commands/domain.ts')).domainVerify,
  'domain list': async () => (await import('./commands/domain.ts')).domainList,
  'queue list': async () => (await import('./commands/queue.ts')).queueList,
  'queue find': async () => (await import('./commands/queue-find.ts')).queueFind,
  'queue show': async () => (await import('./commands/queue-show.ts')).queueShow,
  'queue retry': async () => (await import('./commands/queue-actions.ts')).queueRetry,
  'queue cancel': async () => (await import('./commands/queue-actions.ts')).queueCancel,
  'queue move': async () => (await import('./commands/queue-move.ts')).queueMove,
  'queue pause': async () => (await import('./commands/queue-actions.ts')).queuePause,
  'queue resume': async () => (await import('./commands/queue-actions.ts')).queueResume,
  'queue release': async () => (await import('./commands/queue-release.ts')).queueRelease,
  'queue sources': async () => (await import('./commands/queue-sources.ts')).queueSources,
  'suppression list': async () => (await import('./commands/suppression.ts')).suppressionList,
  'suppression add': async () => (await import('./commands/suppression.ts')).suppressionAdd,
  'suppression remove': async () => (await import('./commands/suppression.ts')).suppressionRemove,
  'suppression import': async () => (await import('./commands/suppression-csv.ts')).suppressionImport,
  'suppression export': async () => (await import('./commands/suppression-csv.ts')).suppressionExport,
  'suppression doubts': async () => (await import('./commands/suppression.ts')).suppressionDoubts,
  'suppression trust': async () => (await import('./commands/suppression.ts')).suppressionTrust,
  'webhook list': async () => (await import('./commands/webhook.ts')).webhookList,
  'webhook attempts': async () => (await import('./commands/webhook.ts')).webhookAttempts,
  'webhook replay': async () => (await import('./commands/webhook.ts')).webhookReplay,
  'webhook rotate': async () => (await import('./commands/webhook.ts')).webhookRotate,
  'inbound list': async () => (await import('./commands/inbound.ts')).inboundList,
  'inbound show': async () => (await import('./commands/inbound.ts')).inboundShow,
  'inbound retry': async () => (await import('./commands/inbound.ts')).inboundRetry,
  'dmarc list': async () => (await import('./commands/dmarc.ts')).dmarcList,
  'dmarc show': async () => (await import('./commands/dmarc.ts')).dmarcShow,
  'address explain': async () => (await import('./commands/address.ts')).addressExplain,
  'bounce reply': async () => (await import('./commands/bounce.ts')).bounceReply,
  'bounce explain': async () => (await import('./commands/bounce.ts')).bounceExplain,
  doctor: async () => (await import('./commands/doctor.ts')).doctor,
  'doctor daemon': async () => (await import('./commands/doctor.ts')).doctorDaemon,
  'nodes list': async () => (await import('./commands/nodes.ts')).nodesList,
  'nodes drain': async () => (await import('./commands/nodes.ts')).nodesDrain,
  'nodes resume': async () => (await import('./commands/nodes.ts')).nodesResume,
  'nodes forget': async () => (await import('./commands/nodes.ts')).nodesForget,
  'certificate list': async () => (await import('./commands/certificate.ts')).certificateList,
  'certificate renew': async () => (await import('./commands/certificate.ts')).certificateRenew,
  dns: async () => (await import('./commands/dns.ts')).dns,
  backup: async () => (await import('./commands/data.ts')).backup,
  restore: async () => (await import('./commands/restore.ts')).restore,
  'restore drill': async () => (await import('./commands/restore-drill.ts')).restoreDrill,
  migrate: async () => (await import('./commands/migrate.ts')).migrate,
  upgrade: async () => (await import('./commands/upgrade.ts')).upgrade,
  'config check': async () => (await import('./commands/config.ts')).configCheck,
  'config print': async () => (await import('./commands/config.ts')).configPrint,
};

export const COMMAND_NAMES: readonly string[] = Object.keys(LOADERS);

export async function findCommand(name: string): Promise<Command | null> {
  return Object.hasOwn(LOADERS, name) ? LOADERS[name]!() : null;
}

export function loadCommands(names: readonly string[]): Promise<Command[]> {
  return Promise.all(names.map((name) => LOADERS[name]!()));
}

/** The names of a group such as `tenant`. */
export function namesOfGroup(group: string): string[] {
  return COMMAND_NAMES.filter((name) => name.startsWith(`${group} `));
}

/**
 * What the daemon carries out for the command line: commands that need the store, and steps of commands. The daemon loads
 * all when it starts: hours later the checkout may hold another version's files.
 */
export async function loadDaemonCommands(): Promise<RunCommand> {
  const { suppressionImportRows } = await import('./commands/suppression-csv.ts');
  const { auditNote } = await import('./commands/audit-note.ts');
  const { firstAccounts } = await import('./setup/first-accounts.ts');
  const { runStoreCommand } = await import('./run-command.ts');
  const all: Command[] = [...(await loadCommands(COMMAND_NAMES)), suppressionImportRows, auditNote, firstAccounts];
  const commands = new Map(all.filter((command) => command.kind === 'store').map((command) => [command.name, command]));
  return ({ command: name, options }, services) => {
    const command = commands.get(name);
    return command ? runStoreCommand(command, options, services) : null;
  };
}
