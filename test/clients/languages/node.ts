// Node: `npm pack`, and the tarball installed where there is no network. The machine's own Node
// runs it, which may be older than the one that runs the tests.
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { findTool, type Language, type Site } from '../language.ts';

const TSC = path.join(import.meta.dirname, '../../../node_modules/.bin/tsc');

export const node: Language = {
  name: 'node',
  title: 'Node',
  fence: 'js',
  tools: [
    { command: 'node', debianPackage: 'nodejs' },
    { command: 'npm', debianPackage: 'npm' },
  ],
  typing: 'dynamic',
  async install(site) {
    const { source, folder, run } = site;
    const home = path.join(folder, 'program');
    const program = (...args: string[]) => ({ command: findTool('node')!, args, cwd: home });
    const packed = await run('npm', ['pack', '--json', '--pack-destination', folder, source]);
    const [{ filename }] = JSON.parse(packed) as [{ filename: string }];
    mkdirSync(home);
    writeFileSync(path.join(home, 'package.json'), '{"private": true, "type": "module"}');
    const quiet = ['--offline', '--no-audit', '--no-fund', '--ignore-scripts', '--cache', path.join(folder, 'cache')];
    await run('npm', ['install', ...quiet, path.join(folder, filename)], { cwd: home });
    // Beside the installed package, which is what their import must find.
    const bring = (file: string, name: string) => copyFileSync(path.join(source, file), path.join(home, name));
    bring('conformance/runner.mjs', 'runner.mjs');
    bring('tests/library.mjs', 'library.mjs');
    bring('conformance/types.mts', 'types.mts');
    bring('conformance/types.mts', 'types.cts');
    const tests = program('--test', 'library.mjs');
    await run(tests.command, tests.args, tests);
    await checkTypes(site, home);
    return {
      runner: program('runner.mjs'),
      async snippet(code, name) {
        writeFileSync(path.join(home, `${name}.js`), code);
        return program(`${name}.js`);
      },
    };
  },
};

/** As a module and as CommonJS: each has types of its own. With neither DOM nor Node, which some users' compilers lack. */
async function checkTypes({ run }: Site, home: string): Promise<void> {
  const strict = ['--strict', '--exactOptionalPropertyTypes', '--module', 'nodenext', '--target', 'es2022'];
  const alone = ['--noEmit', '--ignoreConfig', '--types', ''];
  await run(process.execPath, [TSC, ...alone, ...strict, 'types.mts', 'types.cts'], { cwd: home });
}
