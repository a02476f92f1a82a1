// The PHP library. What `composer archive` packs is unpacked, and required by a project of its own
// with the network switched off.
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { readVersion } from '../../../packaging/release/versions.ts';
import type { Installed, Language, Site } from '../language.ts';

const PACKAGE = 'postrider/client';
const VERSION = readVersion(path.join(import.meta.dirname, '../../..'));

export const php: Language = {
  name: 'php',
  title: 'PHP',
  fence: 'php',
  tools: [
    { command: 'php', debianPackage: 'php-cli php-curl' },
    { command: 'composer', debianPackage: 'composer' },
  ],
  typing: 'dynamic',
  fromCheckout: {
    project: { 'composer.json': '{"repositories": {"packagist.org": false}}' },
    env: (folder) => ({
      COMPOSER_HOME: path.join(folder, 'composer-home'),
      COMPOSER_ALLOW_SUPERUSER: '1',
      COMPOSER_DISABLE_NETWORK: '1',
      COMPOSER_NO_INTERACTION: '1',
    }),
    loads: [
      'php',
      '-r',
      'require "vendor/autoload.php"; new Postrider\\Client("pr_x", "http://127.0.0.1"); echo "loaded";',
    ],
  },
  // The runner spends its time waiting: for answers, and for the next attempt.
  processes: 24,
  install,
};

async function install({ source, folder, run }: Site): Promise<Installed> {
  const env = {
    COMPOSER_HOME: path.join(folder, 'composer-home'),
    COMPOSER_ALLOW_SUPERUSER: '1',
    COMPOSER_DISABLE_NETWORK: '1',
    COMPOSER_NO_INTERACTION: '1',
    COMPOSER_ROOT_VERSION: VERSION,
  };
  const composer = (args: readonly string[], cwd: string) => run('composer', ['--no-ansi', ...args], { cwd, env });
  await composer(['validate', '--strict'], source);
  await composer(['archive', '--format=tar', `--dir=${folder}`, '--file=package'], source);

  const unpacked = path.join(folder, 'package');
  await mkdir(unpacked);
  await run('tar', ['-xf', 'package.tar', '-C', unpacked]);
  const project = path.join(folder, 'project');
  await mkdir(project);
  await writeFile(path.join(project, 'composer.json'), JSON.stringify(projectManifest(unpacked)));
  await composer(['install', '--classmap-authoritative'], project);

  const autoload = path.join(project, 'vendor/autoload.php');
  await run('php', [...STRICT, path.join(source, 'tests/run.php'), autoload]);
  return {
    runner: { command: 'php', args: [...STRICT, path.join(source, 'conformance/runner.php'), autoload], cwd: project },
    async snippet(code, name) {
      const file = `${name}.php`;
      await writeFile(path.join(project, file), code);
      // What reads the body of a request is run by a web server: by PHP's own.
      const serves = code.includes('php://input');
      const served = ['-c', 'exec php -S "127.0.0.1:$PORT" "$0"', file];
      return serves
        ? { command: 'sh', args: served, cwd: project }
        : { command: 'php', args: [...STRICT, file], cwd: project };
    },
  };
}

/** Whatever PHP has to complain about goes to standard output, and fails the test there. */
const STRICT = ['-d', 'error_reporting=-1', '-d', 'display_errors=1', '-d', 'zend.exception_ignore_args=0'];

function projectManifest(unpacked: string) {
  const options = { symlink: false, versions: { [PACKAGE]: VERSION } };
  return {
    repositories: [{ type: 'path', url: unpacked, options }, { 'packagist.org': false }],
    require: { [PACKAGE]: VERSION },
  };
}
