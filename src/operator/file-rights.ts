// Who can read the files of an installation: those that hold secrets, and those that the service needs.
import fs, { type Stats } from 'node:fs';
import { systemWords } from '../base/text/system-words.ts';
import { ALL_KEYS } from '../config/keys.ts';
import type { ConfigSource, LoadedConfig } from '../config/load.ts';
import { hasPassword } from '../config/rules.ts';
import type { ConfigFileFacts, KeyFileFacts } from '../doctor/doctor-settings.ts';

// systemd gives the service access to its credentials by an ACL, which shows as a group permission.
const CREDENTIALS = '/run/credentials/';

/** Readers besides the owner; null: none. */
export function whoElseReads(file: string): KeyFileFacts['openTo'] {
  const { mode } = fs.statSync(file);
  if ((mode & 0o004) !== 0) return 'every user of this machine';
  return (mode & 0o040) !== 0 && !file.startsWith(CREDENTIALS) ? 'its group' : null;
}

/** Null: the configuration file has no secret in it. */
export function inspectConfigFile({ config, source }: LoadedConfig): ConfigFileFacts | null {
  const { file, inFile } = source;
  if (file === null) return null;
  const url = (inFile.get('store.url') ?? null) as string | null;
  const keys = [
    ...(inFile.has('secrets.master_key') ? ['secrets.master_key'] : []),
    ...(hasPassword({ url }) ? ['the password in store.url'] : []),
  ];
  if (keys.length === 0) return null;
  const openTo = whoElseReads(file);
  // The file may be root's, and then the service reads it by its group.
  const isServices = fs.statSync(file).gid === ownerOf(config)?.gid;
  return { file, keys, openTo: openTo === 'its group' && isServices ? null : openTo };
}

export function configFileWarning({ file, keys, openTo }: ConfigFileFacts): string | null {
  if (openTo === null) return null;
  return `${file} has ${keys.join(' and ')}, and can be read by ${openTo}: chgrp postrider ${file} && chmod 640 ${file}`;
}

/** The service's user and group; null: there is no data folder yet, or it is not for whoever asks. */
function ownerOf({ data }: Pick<LoadedConfig['config'], 'data'>): Stats | null {
  try {
    return fs.statSync(data.dir);
  } catch {
    return null;
  }
}

/** What the service's user can't read: the file, and what it names. Only root has to ask: for others nothing differs. */
export function hiddenFromService({ config, source }: LoadedConfig): string[] {
  const owner = ownerOf(config);
  if (process.getuid?.() !== 0 || source.file === null || !owner || owner.uid === 0) return [];
  const files = [{ what: 'the configuration', file: source.file }, ...filesOf(config, source)];
  const judge = () => files.map(({ what, file }) => ({ what, file, reason: whyUnreadable(file) }));
  return actingAs(owner, judge)
    .filter(({ reason }) => reason !== null)
    .map(
      ({ what, file, reason }) =>
        `${what}: the service's user, who owns data.dir, can't read ${file}: ${reason}. Let that user read it (and enter the folders above it), or serve does not start`,
    );
}

/** Environment variables are those of whoever asks. */
function filesOf(config: LoadedConfig['config'], { origins }: ConfigSource): { what: string; file: string }[] {
  const named = ALL_KEYS.filter(
    ({ name, spec }) => spec.type === 'path' && spec.mustExist && origins.get(name) === 'file',
  );
  return named.map(({ name, section, key }) => {
    const file = (config as Record<string, Record<string, unknown>>)[section]![key] as string;
    return { what: name, file };
  });
}

function whyUnreadable(file: string): string | null {
  try {
    fs.closeSync(fs.openSync(file, 'r'));
    return null;
  } catch (error) {
    return systemWords(error);
  }
}

/** The system decides, by owners, groups and access lists. Empty where root may not become another user. */
function actingAs<T>({ uid, gid }: Pick<Stats, 'uid' | 'gid'>, work: () => T[]): T[] {
  const [groups, ownGid] = [process.getgroups!(), process.getegid!()];
  if (!joinsGroupsOf(uid, gid)) return [];
  try {
    process.setegid!(gid);
    process.seteuid!(uid);
    return work();
  } catch {
    return [];
  } finally {
    process.seteuid!(0);
    process.setegid!(ownGid);
    process.setgroups!(groups);
  }
}

/** Which the types of Node lack. */
type WithGroups = NodeJS.Process & { initgroups(user: number, group: number): void };

function joinsGroupsOf(uid: number, gid: number): boolean {
  const ways = [
    () => (process as WithGroups).initgroups(uid, gid),
    // A user without a name, as in some containers.
    () => process.setgroups!([gid]),
  ];
  return ways.some((way) => {
    try {
      way();
      return true;
    } catch {
      return false;
    }
  });
}
