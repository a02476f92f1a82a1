// Node: `npm pack`, and the tarball installed where there is no network. The machine's own Node
// runs it, which may be older than the one that runs the tests.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { findTool, type Language, type Site } from '../language.ts';

const OLDEST = 20;

/** The machine's own, unless it is too old for the library, as on Debian 12. */
function nodeOfUsers(): string {
  const machines = findTool('node');
  if (machines === null) return process.execPath;
  const version = spawnSync(machines, ['--version'], { encoding: 'utf8' }).stdout;
  if (Number(/^v(\d+)/.exec(version)?.[1]) >= OLDEST) return machines;
  console.error(
    `the Node library is tested with ${process.version}: it needs Node ${OLDEST}, and ${machines} is ${version}`,
  );
  return process.execPath;
}

const NODE = nodeOfUsers();
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
  fromCheckout: {
    project: { 'package.json': '{"private": true, "type": "module"}' },
    env: (folder) => ({ npm_config_offline: 'true', npm_config_cache: path.join(folder, 'cache') }),
    loads: [NODE, '-e', "import('postrider-client').then(({ Postrider }) => console.log(Postrider && 'loaded'))"],
  },
  async install(site) {
    const { source, folder, run } = site;
    const home = path.join(folder, 'program');
    const program = (...args: string[]) => ({ command: NODE, args, cwd: home });
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
