// The Ruby library: the gem is built, installed into a folder of its own, and required from there.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Installed, Language, Site } from '../language.ts';

export const ruby: Language = {
  name: 'ruby',
  title: 'Ruby',
  fence: 'ruby',
  tools: [
    { command: 'ruby', debianPackage: 'ruby' },
    { command: 'gem', debianPackage: 'ruby' },
  ],
  typing: 'dynamic',
  fromCheckout: {
    project: {},
    env: (folder) => ({ GEM_HOME: path.join(folder, 'gems') }),
    // By the gem's name, as Bundler does; it brings the file that the README requires.
    loads: ['ruby', '-e', 'require "postrider-client"; require "postrider"; puts "loaded #{Postrider::Client}"'],
  },
  install,
};

/** The program of the bundled gem: its name in PATH differs from system to system (Debian: rbs3.1). */
const RBS = ['-e', 'load Gem.bin_path("rbs", "rbs")', '--'];

async function install({ source, folder, run }: Site): Promise<Installed> {
  await run('ruby', [...RBS, '-I', path.join(source, 'sig'), 'validate', '--silent']);

  const gem = path.join(folder, 'postrider.gem');
  const said = await run('sh', ['-c', 'gem build postrider-client.gemspec --output "$0" 2>&1', gem], { cwd: source });
  // Not by --strict, which demands a homepage; there is none.
  const warnings = said.match(/^WARNING: {2}(?!no homepage|See ).*/gm) ?? [];
  if (warnings.length > 0) throw new Error(warnings.join('\n'));
  const gems = path.join(folder, 'gems');
  await run('gem', ['install', '--local', '--no-document', '--install-dir', gems, gem]);

  const test = path.join(source, 'test/client_test.rb');
  await run('ruby', ['-r', 'rbs/test/setup', test], { env: { GEM_HOME: gems, ...checkedSignatures(source) } });

  // -w: a library that makes its users' warnings unreadable is not finished.
  const program = (file: string) => ({ command: 'ruby', args: ['-w', file], cwd: folder, env: { GEM_HOME: gems } });
  return {
    runner: program(path.join(source, 'conformance/runner.rb')),
    async snippet(code, name) {
      const file = path.join(folder, `${name}.rb`);
      await writeFile(file, code);
      return program(file);
    },
  };
}

/** Every call of the library is compared with sig/ while it runs. */
function checkedSignatures(source: string): Record<string, string> {
  return {
    RBS_TEST_TARGET: 'Postrider::*',
    RBS_TEST_OPT: `-I ${path.join(source, 'sig')}`,
    RBS_TEST_RAISE: 'true',
    RBS_TEST_LOGLEVEL: 'error',
  };
}
