// Loaded before each test file. The test runner gives every process and thread that a test starts a loader
// of its own, for coverage that we do not measure: a third of a second of a processor for each. Users have none; what
// they have is the cache of sources.
// Then it notes where the file is, and ends it when it makes no step for too long (`test-whereabouts.ts`).
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { fileURLToPath } from 'node:url';
import type threads from 'node:worker_threads';

const WITH_CACHE = ['--require', fileURLToPath(new URL('source-cache.cjs', import.meta.url))];
const require = createRequire(import.meta.url);
const builtin = require('node:worker_threads') as { Worker: typeof threads.Worker };
builtin.Worker = class extends builtin.Worker {
  constructor(entry: string | URL, options: threads.WorkerOptions = {}) {
    // Piscina gives the option without a value.
    super(entry, { ...options, execArgv: options.execArgv ?? WITH_CACHE });
  }
};
syncBuiltinESMExports();

// What the runner has registered there puts the loader into the environment of each process.
require('process-on-spawn').removeAllListeners();
delete process.env.NODE_OPTIONS;

const { watchFile } = await import('./watch-test-file.ts');
await watchFile(process.argv[1] ?? '', process.env);
