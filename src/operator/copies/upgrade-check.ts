// What a start of this version would meet: configuration, database, migrations, room. Only reads, so that it can be asked
// beside the running daemon of another version. Loads the driver, so import() it where it is used.
import { describeError } from '../../base/errors.ts';
import { programVersion } from '../../base/program-version.ts';
import type { Config } from '../../config/keys.ts';
import { ConfigError, type LoadedConfig } from '../../config/load.ts';
import { configWarnings } from '../../config/rules.ts';
import { type Finding, fine, warning, worstOf, wrong } from '../../doctor/finding.ts';
import { judgeKeyTrouble } from '../../doctor/inside.ts';
import { diskFreeBytes } from '../../observe/host-room.ts';
import { storedSchema } from '../../store/opening/open-store.ts';
import { emptiedProblem } from '../../store/sqlite/engine/emptied-database.ts';
import {
  type MigrationStep,
  mebibytes,
  planUpgrade,
  SPARE_BYTES,
  type UpgradePlan,
} from '../../store/sqlite/engine/upgrade.ts';
import { isDaemonListening } from '../control/control-client.ts';
import { type DataFolder, dataFolder, overDatabase, sqliteFile } from '../data-folder.ts';
import { masterKeyTrouble } from '../master-key.ts';
import { shapingSettings } from '../shaping-settings.ts';

export interface UpgradeCheck {
  /** False: the start would be refused. */
  possible: boolean;
  /** Of this program. */
  version: string;
  /** Null: unknown. */
  plan: { from: number; to: number; steps: MigrationStep[]; neededBytes: number; freeBytes: number | null } | null;
  findings: Finding[];
}

export async function checkUpgrade(load: () => Promise<LoadedConfig>): Promise<UpgradeCheck> {
  const found = await look(load);
  return { ...found, possible: worstOf(found.findings) !== 'fail' };
}

async function look(load: () => Promise<LoadedConfig>): Promise<Omit<UpgradeCheck, 'possible'>> {
  const { place, config, findings } = await checkConfig(load);
  const version = programVersion();
  if (place === null) return { version, plan: null, findings };
  const folder = dataFolder(place);
  findings.push(await checkDaemon(folder));
  try {
    const { plan, found } =
      folder.database === null ? await lookAtServer(folder) : await lookAtFile(folder, place.data);
    const ofKey = config === null ? [] : await checkKey(config);
    return { version, plan, findings: [...findings, ...found, ...ofKey] };
  } catch (error) {
    findings.push(wrong({ check: 'database', subject: folder.storeName }, `cannot be read: ${describeError(error)}`));
    return { version, plan: null, findings };
  }
}

interface Look {
  plan: UpgradeCheck['plan'];
  found: Finding[];
}

async function lookAtFile(folder: DataFolder, { upgrade_backups: keep }: Config['data']): Promise<Look> {
  const file = sqliteFile(folder);
  const plan = await overDatabase(folder, () => planUpgrade(file));
  const upgrade = { ...plan, problem: emptiedProblem(file) ?? plan.problem };
  const freeBytes = await diskFreeBytes(folder.dir);
  const { neededBytes, findings } = checkRoom(folder, upgrade, { freeBytes, keep });
  const { from, to, steps } = upgrade;
  return { plan: { from, to, steps, neededBytes, freeBytes }, found: [checkDatabase(folder, upgrade), ...findings] };
}

/** Its migrations only add, beside the daemons of the version before: no room is needed for a copy. */
async function lookAtServer(folder: DataFolder): Promise<Look> {
  const { version: from, newest: to } = await storedSchema(folder.store);
  return { plan: null, found: [checkDatabase(folder, { from, to, problem: null })] };
}

interface ConfigLook {
  /** Null: not even that could be read. */
  place: Pick<Config, 'data' | 'store'> | null;
  /** Null: it has errors. */
  config: Config | null;
  findings: Finding[];
}

async function checkConfig(load: () => Promise<LoadedConfig>): Promise<ConfigLook> {
  const about = (file: string | null) => ({ check: 'configuration', subject: file ?? 'the environment' });
  try {
    const { config, source } = await load();
    const warnings = configWarnings(config).map((text) => warning(about(source.file), text));
    const findings = [fine(about(source.file), 'has only keys of this version'), ...warnings, ...checkLimits(config)];
    return { place: config, config, findings };
  } catch (error) {
    const { cause } = error as { cause?: unknown };
    if (!(cause instanceof ConfigError)) throw error;
    const findings = cause.problems.map((problem) => wrong(about(cause.file), problem));
    return { place: cause.place, config: null, findings };
  }
}

function checkLimits(config: Config): Finding[] {
  try {
    shapingSettings(config);
    return [];
  } catch (error) {
    const [what, ...problems] = describeError(error).split('\n');
    const message = [what, problems.map((each) => each.trim()).join('; ')].join(' ');
    return [wrong({ check: 'configuration', subject: 'delivery.provider_limits_file' }, message)];
  }
}

/** In a schema of an earlier version, what the key has to open may not be readable. */
async function checkKey(config: Config): Promise<Finding[]> {
  try {
    return judgeKeyTrouble(await masterKeyTrouble(config));
  } catch (error) {
    return [warning({ check: 'master key', subject: 'this check' }, `couldn't be completed: ${describeError(error)}`)];
  }
}

async function checkDaemon({ controlSocket }: DataFolder): Promise<Finding> {
  const about = { check: 'daemon', subject: 'postrider' };
  try {
    if (!(await isDaemonListening(controlSocket))) return fine(about, 'is not running');
    return fine(about, 'is running; the upgrade takes effect when it is restarted');
  } catch (error) {
    return warning(about, describeError(error));
  }
}

function checkDatabase(
  { storeName }: DataFolder,
  { from, to, problem }: Pick<UpgradePlan, 'from' | 'to' | 'problem'>,
): Finding {
  const about = { check: 'database', subject: storeName };
  if (problem !== null) return wrong(about, problem);
  if (from === 0) return fine(about, 'does not exist yet: the first start creates it');
  if (from > to) return warning(about, `has the newer schema ${from}, on which this version works, too`);
  if (from === to) return fine(about, `already has schema ${to}`);
  return fine(about, `has schema ${from}; the next start migrates it to ${to}`);
}

function checkRoom(
  { dir }: DataFolder,
  { steps, copyBytes, migrationBytes }: UpgradePlan,
  { freeBytes, keep }: { freeBytes: number | null; keep: number },
): { neededBytes: number; findings: Finding[] } {
  if (steps.length === 0) return { neededBytes: 0, findings: [] };
  const about = { check: 'room', subject: dir };
  const forCopy = keep === 0 ? 0 : copyBytes + SPARE_BYTES;
  const neededBytes = forCopy + migrationBytes;
  const one = (finding: Finding) => ({ neededBytes, findings: [finding] });
  const needed = `${mebibytes(neededBytes)} MiB are needed at most: ${mebibytes(forCopy)} for the backup, ${mebibytes(migrationBytes)} for tables that are written again`;
  if (freeBytes === null) return one(warning(about, `${needed}; how much is free is unknown`));
  const free = `${mebibytes(freeBytes)} MiB are free`;
  if (freeBytes < forCopy) {
    const advice = 'free the space, or set data.upgrade_backups = 0 to migrate without a backup';
    return one(wrong(about, `${free}, so the start will be refused: ${needed}`, { advice }));
  }
  return one(freeBytes < neededBytes ? warning(about, `${free}; ${needed}`) : fine(about, `${free}; ${needed}`));
}
