// For tests of what another user of the machine may do: a program is run with this user's id, which owns nothing.
import { execFile } from 'node:child_process';

export const OTHER_USER = { uid: 65534, gid: 65534 };

/** Why no program can be run as the other user here, or false: for `skip`. */
export const noOtherUser = await new Promise<string | false>((resolve) => {
  if (process.getuid?.() !== 0) return resolve('only root can run a program as another user');
  execFile(process.execPath, ['--version'], { cwd: '/', ...OTHER_USER }, (error) =>
    resolve(error ? `another user may not run ${process.execPath}: ${error.message}` : false),
  );
});
