// Python: a wheel, built and installed where there is no network. Debian's Python, if there is
// one: its packages for building are no part of another that comes first in PATH.
import { cp, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { findTool, type Language, machinePath } from '../language.ts';

const DEBIANS = '/usr/bin/python3';
const command = findTool(DEBIANS) ?? 'python3';

export const python: Language = {
  name: 'python',
  title: 'Python',
  fence: 'python',
  tools: [
    { command, debianPackage: 'python3' },
    { command, works: ['-c', 'import pip'], debianPackage: 'python3-pip' },
    {
      command,
      works: ['-W', 'ignore', '-c', 'import setuptools, wheel'],
      debianPackage: 'python3-setuptools python3-wheel',
    },
  ],
  typing: 'dynamic',
  fromCheckout: {
    project: {},
    env: (folder) => ({
      // The README's `pip` is that of the Python which is tested.
      PATH: [path.dirname(findTool(command)!), ...machinePath()].join(path.delimiter),
      PIP_CONFIG_FILE: '/dev/null',
      PIP_NO_INDEX: '1',
      // pip's way to say that the build is not isolated, for which it would fetch setuptools.
      PIP_NO_BUILD_ISOLATION: 'false',
      PIP_NO_CACHE_DIR: '1',
      PIP_ROOT_USER_ACTION: 'ignore',
      PIP_TARGET: path.join(folder, 'packages'),
      PYTHONPATH: path.join(folder, 'packages'),
    }),
    loads: [command, '-c', 'import postrider; print("loaded", postrider.Postrider)'],
  },
  async install({ source, folder, run }) {
    const [copy, wheels, packages] = ['source', 'wheels', 'packages'].map((name) => path.join(folder, name)) as [
      string,
      string,
      string,
    ];
    // A build leaves files beside the sources.
    await cp(source, copy, { recursive: true, filter: (from) => !/__pycache__|\.egg-info|\/build$/.test(from) });
    const env = { PIP_CONFIG_FILE: '/dev/null', PIP_NO_CACHE_DIR: '1', PIP_DISABLE_PIP_VERSION_CHECK: '1' };
    const pip = (...args: string[]) =>
      run(command, ['-m', 'pip', ...args, '--no-index', '--no-deps', '--quiet'], { env });
    await pip('wheel', '--no-build-isolation', '--wheel-dir', wheels, copy);
    const [wheel] = await readdir(wheels);
    await pip('install', '--root-user-action', 'ignore', '--target', packages, path.join(wheels, wheel!));
    // Warnings are failures: of deprecated functions, of sockets that were left open.
    const program = (file: string) => ({
      command,
      args: ['-W', 'error', '-X', 'dev', path.join(folder, file)],
      cwd: folder,
      env: { PYTHONPATH: packages, PYTHONDONTWRITEBYTECODE: '1' },
    });
    await cp(path.join(source, 'conformance/runner.py'), path.join(folder, 'runner.py'));
    await run(
      command,
      [...program('').args.slice(0, -1), '-m', 'unittest', 'discover', '-s', path.join(source, 'tests')],
      {
        env: program('').env,
      },
    );
    return {
      runner: program('runner.py'),
      async snippet(code, name) {
        await writeFile(path.join(folder, `${name}.py`), code);
        return program(`${name}.py`);
      },
    };
  },
};
