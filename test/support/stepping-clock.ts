// A clock of a program's own, which jumps as one does whose time server was gone for a while: the time of day, not the time
// that passes. Debian's libfaketime, put in front of libc.
import fs from 'node:fs';
import path from 'node:path';

/** Debian has it in a folder that is named after the processor. */
const LIBRARY = fs
  .readdirSync('/usr/lib')
  .map((name) => `/usr/lib/${name}/faketime/libfaketimeMT.so.1`)
  .find((file) => fs.existsSync(file));

/** Why no clock can jump here, or false: the `skip` of a test. */
export const noSteppingClock: string | false = LIBRARY ? false : 'libfaketime is missing: apt-get install libfaketime';

export interface SteppingClock {
  /** For the program whose clock it is. */
  env: Record<string, string>;
  /** How far it is from the machine's within a second from now. */
  stepTo(seconds: number): void;
}

export function prepareSteppingClock(folder: string): SteppingClock {
  const file = path.join(folder, 'clock');
  const stepTo = (seconds: number) => fs.writeFileSync(file, `${seconds < 0 ? '' : '+'}${seconds}`);
  stepTo(0);
  const env = {
    LD_PRELOAD: LIBRARY ?? '',
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_CACHE_DURATION: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    NO_FAKE_STAT: '1',
  };
  return { env, stepTo };
}
