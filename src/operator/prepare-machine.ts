// What a machine needs besides the configuration: the service's user, its folders, the units, and the daemon running. For a
// checkout; a package brings them, and then nothing is changed. Needs root.
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Fault } from '../base/errors.ts';
import { systemTrouble } from '../base/text/system-words.ts';
import { askDaemon } from './control/control-client.ts';
import { type DataFolder, ourFilesIn } from './data-folder.ts';

const USER = 'postrider';
const UNIT = 'postrider.service';
const UNITS = [UNIT, 'postrider-backup.service', 'postrider-backup.timer'];
/** Where the unit of the checkout says that the checkout is. */
const USUAL_CHECKOUT = '/opt/postrider';
const UNIT_FOLDERS = [
  'etc/systemd/system',
  'usr/local/lib/systemd/system',
  'usr/lib/systemd/system',
  'lib/systemd/system',
];
/** The unit hides these from the daemon (ProtectHome, PrivateTmp). */
const HIDDEN_FROM_UNIT = ['/home/', '/root/', '/tmp/', '/var/tmp/'];
const BACKUPS = 'var/backups/postrider';
/** A first start creates the database and a key; a slow disk takes some seconds. */
const START_PATIENCE_MS = 30_000;
const START_LOOK_MS = 200;

export interface MachineKit {
  /** `/`, or the root of another system, which has this one's form. */
  root: string;
  /** The folder of this program. */
  checkout: string;
  /** Throws with what the command has said unless it succeeds. */
  run(command: string, args: readonly string[]): Promise<void>;
}

export interface ServiceUser {
  name: string;
  uid: number;
  gid: number;
}

export interface PreparedMachine {
  user: ServiceUser;
  /** What was created, in words. */
  created: string[];
  /** Whether systemd runs here and knows the unit; else why not. */
  unit: { kind: 'ready' } | { kind: 'none'; reason: string };
}

export async function prepareMachine(kit: MachineKit, { dir }: Pick<DataFolder, 'dir'>): Promise<PreparedMachine> {
  const created: string[] = [];
  const user = findUser(kit) ?? (await createUser(kit, dir));
  if (user.isNew) created.push(`user ${USER}`);
  const folders = [path.join(kit.root, dir), path.join(kit.root, BACKUPS)];
  for (const folder of folders) if (makeFolder(folder, user)) created.push(`folder ${folder}`);
  const units = await prepareUnits(kit);
  if (units.kind === 'ready') created.push(...units.made.map((file) => `unit ${file}`));
  const unit: PreparedMachine['unit'] = units.kind === 'none' ? units : { kind: 'ready' };
  return { user: { name: USER, uid: user.uid, gid: user.gid }, created, unit };
}

type FoundUser = Pick<ServiceUser, 'uid' | 'gid'> & { isNew: boolean };

function findUser({ root }: Pick<MachineKit, 'root'>): FoundUser | null {
  const lines = fs.readFileSync(path.join(root, 'etc/passwd'), 'utf8').split('\n');
  const fields = lines.map((line) => line.split(':')).find(([name]) => name === USER);
  return fields ? { uid: Number(fields[2]), gid: Number(fields[3]), isNew: false } : null;
}

async function createUser(kit: MachineKit, home: string): Promise<FoundUser> {
  const where = kit.root === '/' ? [] : ['--prefix', kit.root];
  const how = ['--system', '--user-group', '--no-create-home', '--home-dir', home, '--shell', '/usr/sbin/nologin'];
  await kit.run('useradd', [...where, ...how, USER]);
  const user = findUser(kit);
  if (!user) throw new Fault(`useradd has created no user ${USER}`);
  return { ...user, isNew: true };
}

/** What commands that root has run have left in it, such as a database, becomes the service's too; nothing else does. */
function makeFolder(folder: string, { uid, gid }: FoundUser): boolean {
  const isNew = !fs.existsSync(folder);
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { files, hasOthers } = ourFilesIn(folder);
  const paths = hasOthers ? files : [folder, ...files];
  for (const each of paths) if (fs.lstatSync(each).uid === 0) fs.lchownSync(each, uid, gid);
  return isNew;
}

type Units = { kind: 'ready'; made: string[] } | { kind: 'none'; reason: string };

async function prepareUnits(kit: MachineKit): Promise<Units> {
  if (!isSystemdIn(kit)) return none('systemd does not run here');
  const missing = UNITS.filter((unit) => !isUnitIn(kit, unit));
  const problem = placeProblem(kit);
  if (problem !== null) return none(problem);
  if (missing.length === 0 || nameProblem(kit) !== null) return { kind: 'ready', made: [] };
  const made = missing.map((unit) => makeUnit(kit, unit));
  await kit.run('systemctl', ['daemon-reload']);
  return { kind: 'ready', made };
}

function isSystemdIn({ root }: Pick<MachineKit, 'root'>): boolean {
  return fs.existsSync(path.join(root, 'run/systemd/system'));
}

function isUnitIn({ root }: Pick<MachineKit, 'root'>, unit: string): boolean {
  return UNIT_FOLDERS.some((folder) => fs.existsSync(path.join(root, folder, unit)));
}

/** Why the service's user can't run the program where it is, and where to move it; null: it can. */
export function placeProblem(kit: Pick<MachineKit, 'root' | 'checkout'>): string | null {
  const { checkout } = kit;
  const closed = foldersDownTo(checkout).find((folder) => isClosed(folder));
  if (closed !== undefined) return `only its owner can enter ${closed}: move ${checkout} to ${USUAL_CHECKOUT}`;
  return isSystemdIn(kit) && !isUnitIn(kit, UNIT) ? nameProblem(kit) : null;
}

function nameProblem({ checkout }: Pick<MachineKit, 'checkout'>): string | null {
  const hidden = HIDDEN_FROM_UNIT.find((folder) => `${checkout}/`.startsWith(folder));
  if (hidden !== undefined)
    return `the unit can't run a program below ${hidden}: move ${checkout} to ${USUAL_CHECKOUT}`;
  if (!/[\s%"'\\$]/.test(checkout)) return null;
  return `the unit can't name ${checkout}: move it to a path without spaces and quotes`;
}

function isClosed(folder: string): boolean {
  const found = fs.statSync(folder, { throwIfNoEntry: false });
  return found !== undefined && (found.mode & 0o001) === 0;
}

function foldersDownTo(folder: string): string[] {
  const above = path.dirname(folder);
  return above === folder ? [folder] : [...foldersDownTo(above), folder];
}

function makeUnit({ root, checkout }: MachineKit, unit: string): string {
  const text = fs.readFileSync(path.join(checkout, 'systemd', unit), 'utf8').replaceAll(USUAL_CHECKOUT, checkout);
  const file = path.join(root, UNIT_FOLDERS[0]!, unit);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(`${file}.new`, text, { mode: 0o644 });
  fs.renameSync(`${file}.new`, file);
  return file;
}

function none(reason: string): Units {
  return { kind: 'none', reason };
}

/** Null: the daemon answers; else why it does not, and what to do. */
export async function startService(
  { run }: Pick<MachineKit, 'run'>,
  { folder, isChanged }: { folder: DataFolder; isChanged: boolean },
): Promise<string | null> {
  try {
    await run('systemctl', ['enable', USER]);
    await run('systemctl', [isChanged ? 'restart' : 'start', USER]);
  } catch (error) {
    return `the daemon could not be started: ${systemTrouble(error)}`;
  }
  for (let waitedMs = 0; waitedMs < START_PATIENCE_MS; waitedMs += START_LOOK_MS) {
    if (await isAnswering(folder)) return null;
    await sleep(START_LOOK_MS);
  }
  return 'the daemon was started, but does not answer. journalctl --unit postrider --lines 20 says why; another mail server on this machine may use port 25 (ss -ltnp)';
}

export async function isAnswering({ controlSocket }: Pick<DataFolder, 'controlSocket'>): Promise<boolean> {
  try {
    return (await askDaemon(controlSocket, { command: 'doctor daemon', options: {} })) !== null;
  } catch {
    // It is there, and in trouble: the next command says which.
    return true;
  }
}
