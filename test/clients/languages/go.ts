// The Go library. There is no network, so the module is laid out in the folder as a module proxy
// serves it, and installed from there by a module of its own that holds runner and snippets.
import { cp, mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Installed, Language, Site } from '../language.ts';

const MODULE = 'postrider.example/postrider-go';

export const go: Language = {
  name: 'go',
  title: 'Go',
  fence: 'go',
  tools: [
    { command: 'go', debianPackage: 'golang-go' },
    { command: 'gofmt', debianPackage: 'golang-go' },
  ],
  typing: 'static',
  fromCheckout: {
    project: {
      'go.mod': 'module example.com/user\n\ngo 1.19\n',
      'main.go': `package main\n\nimport "${MODULE}"\n\nfunc main() { println("loaded", postrider.Version) }\n`,
    },
    env: (folder) => ({ GOPROXY: 'off', GOMODCACHE: path.join(folder, 'modules'), GOFLAGS: '-modcacherw' }),
    loads: ['sh', '-c', 'go run . 2>&1'],
  },
  install,
};

async function install(site: Site): Promise<Installed> {
  const { source, folder, run } = site;
  const unformatted = await run('gofmt', ['-l', source]);
  if (unformatted !== '') throw new Error(`gofmt would change ${unformatted}`);
  await run('go', ['vet', './...'], { cwd: source });
  await run('go', ['test', './...'], { cwd: source });

  const proxy = path.join(folder, 'proxy');
  await run('go', ['run', './conformance/pack', proxy], { cwd: source });
  const user = path.join(folder, 'user');
  // Writable, or nobody could delete the folder; the sums of a database cannot be asked for here.
  const env = {
    GOPROXY: `file://${proxy}`,
    GOSUMDB: 'off',
    // A name of its own each time: Go remembers beyond the test which files are in a module's folder,
    // and would not see a file that was added without a new version.
    GOMODCACHE: await mkdtemp(path.join(folder, 'modules-')),
    GOFLAGS: '-modcacherw',
  };
  await mkdir(user);
  await run('go', ['mod', 'init', 'example.com/user'], { cwd: user, env });
  await run('go', ['get', `${MODULE}@latest`], { cwd: user, env });

  const build = async (name: string) => {
    await run('go', ['build', '-o', path.join(folder, name), `./${name}`], { cwd: user, env });
    return { command: path.join(folder, name), args: [], cwd: folder };
  };
  await cp(path.join(source, 'conformance'), path.join(user, 'runner'), {
    recursive: true,
    filter: (from) => path.basename(from) !== 'pack',
  });
  return {
    runner: await build('runner'),
    async snippet(code, name) {
      await mkdir(path.join(user, name), { recursive: true });
      await writeFile(path.join(user, name, 'main.go'), wholeProgram(code));
      return build(name);
    },
  };
}

/** A block that is only the inside of `main` gets what its page says in words: the imports. */
function wholeProgram(code: string): string {
  if (code.startsWith('package ')) return code;
  const imports = ['context', 'fmt', 'log', MODULE].map((name) => `\t"${name}"`);
  return `package main\n\nimport (\n${imports.join('\n')}\n)\n\nfunc main() {\n${code}}\n`;
}
