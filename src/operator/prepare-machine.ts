// What a machine needs besides the configuration: the service's user, its folders, the unit, and the daemon running. For a
// checkout; a package brings them, and then nothing is changed. Needs root.
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Fault } from '../base/errors.ts';
import { systemTrouble } from '../base/text/system-words.ts';
import { askDaemon } from './control/control-client.ts';
import type { DataFolder } from './data-folder.ts';

const USER = 'postrider';
const UNIT = 'postrider.service';
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
  const unit = await prepareUnit(kit);
  if (unit.kind === 'new') created.push(`unit ${unit.file}`);
  return {
    user: { name: USER, uid: user.uid, gid: user.gid },
    created,
    unit: unit.kind === 'none' ? unit : { kind: 'ready' },
  };
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
const OURS = /^(?:postrider\.db.*|postrider-schema-.*\.db|master\.key|results\.journal.*|writer\.lock|control\.sock)$/;

function makeFolder(folder: string, { uid, gid }: FoundUser): boolean {
  const isNew = !fs.existsSync(folder);
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  const names = fs.readdirSync(folder);
  const ours = names.filter((name) => OURS.test(name)).map((name) => path.join(folder, name));
  const paths = ours.length === names.length ? [folder, ...ours] : ours;
  for (const each of paths) if (fs.lstatSync(each).uid === 0) fs.lchownSync(each, uid, gid);
  return isNew;
}

type Unit = { kind: 'ready' } | { kind: 'new'; file: string } | { kind: 'none'; reason: string };

async function prepareUnit(kit: MachineKit): Promise<Unit> {
  if (!fs.existsSync(path.join(kit.root, 'run/systemd/system'))) return none('systemd does not run here');
  const files = UNIT_FOLDERS.map((folder) => path.join(kit.root, folder, UNIT));
  if (files.some((file) => fs.existsSync(file))) return { kind: 'ready' };
  const { checkout } = kit;
  const hidden = HIDDEN_FROM_UNIT.find((folder) => `${checkout}/`.startsWith(folder));
  if (hidden !== undefined)
    return none(`the unit can't run a program below ${hidden}: move ${checkout} to ${USUAL_CHECKOUT}`);
  if (/[\s%"'\\$]/.test(checkout))
    return none(`the unit can't name ${checkout}: move it to a path without spaces and quotes`);
  const unit = fs.readFileSync(path.join(checkout, 'systemd', UNIT), 'utf8').replaceAll(USUAL_CHECKOUT, checkout);
  const file = files[0]!;
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(`${file}.new`, unit, { mode: 0o644 });
  fs.renameSync(`${file}.new`, file);
  await kit.run('systemctl', ['daemon-reload']);
  return { kind: 'new', file };
}

function none(reason: string): Unit {
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
