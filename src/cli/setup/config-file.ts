// The configuration file that set-up writes: a new one with all comments, or an operator's with what it lacks.
import fs from 'node:fs';
import path from 'node:path';
import { Fault } from '../../base/errors.ts';
import { systemTrouble } from '../../base/text/system-words.ts';
import { type NewValues, newConfigFile, withValues } from '../../config/set-values.ts';

/** Readable by the service's user, whoever writes it; it has no secrets. */
const FILE_MODE = 0o644;

export type Written = 'created' | 'changed' | 'unchanged';

/** Throws a Fault that says what to do. */
export function writeConfigFile(file: string, values: NewValues): Written {
  const before = fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : null;
  if (before !== null && values.size === 0) return 'unchanged';
  const text = before === null ? newConfigFile(values) : withValues(before, values);
  if (text === null) throw new Fault(addByHand(file, values));
  try {
    fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o755 });
    replaceFile(file, text);
  } catch (cause) {
    const advice =
      process.getuid?.() === 0 ? '' : ': run it as root (sudo postrider setup), or name another file with --config';
    throw new Fault(`${file} can't be written: ${systemTrouble(cause)}${advice}`, { cause });
  }
  return before === null ? 'created' : 'changed';
}

/** Never half a file, whatever ends the process. Owner and mode of an old one stay. */
function replaceFile(given: string, text: string): void {
  const file = fs.existsSync(given) ? fs.realpathSync(given) : given;
  const old = fs.statSync(file, { throwIfNoEntry: false });
  const draft = `${file}.new`;
  const handle = fs.openSync(draft, 'w', FILE_MODE);
  try {
    // All of it or an error; writeSync may write a part, on a disk that is nearly full.
    fs.writeFileSync(handle, text);
    fs.fchmodSync(handle, old ? old.mode & 0o777 : FILE_MODE);
    if (old && process.getuid?.() === 0) fs.fchownSync(handle, old.uid, old.gid);
    fs.fsyncSync(handle);
  } finally {
    fs.closeSync(handle);
  }
  fs.renameSync(draft, file);
}

function addByHand(file: string, values: NewValues): string {
  const lines = [...values].map(([name, value]) => `${name} = ${JSON.stringify(value)}`);
  return `${file} is written in a form that can't be added to safely. Add these keys by hand, then run postrider setup again: ${lines.join(', ')}`;
}
