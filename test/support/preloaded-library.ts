// Small libraries in front of the C library of a program under test (LD_PRELOAD), for what no kernel does on request.
import { execFileSync, spawnSync } from 'node:child_process';
import path from 'node:path';

/** Why none can be built here, or false: the `skip` of a test. */
export const noCompiler: string | false =
  spawnSync('cc', ['--version']).status === 0 ? false : 'cc is not installed: apt-get install gcc libc6-dev';

/** `source`: a file of C. The library is in `folder` then. */
export function compileLibrary(source: string, folder: string): string {
  const library = path.join(folder, `${path.basename(source, '.c')}.so`);
  execFileSync('cc', ['-O1', '-shared', '-fPIC', '-o', library, source, '-ldl'], { stdio: 'pipe' });
  return library;
}
