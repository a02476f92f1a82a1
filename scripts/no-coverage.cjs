// Loaded before everything in the test runner and in each test file. For coverage, that we do not measure, the runner
// sends every module that a test or one of its threads loads through a loader on a thread of its own, which
// makes a start twice as slow, and a test of threads more than that.
const module_ = require('node:module');

const COVERAGE = '@tapjs/processinfo';

// It takes what it finds here for its own state, and registers nothing.
globalThis[Symbol.for(`${COVERAGE}.ProcessInfoNodeData`)] = { files: [] };
const { register } = module_;
module_.register = (specifier, ...rest) => {
  if (!String(specifier).includes(COVERAGE)) register(specifier, ...rest);
};
