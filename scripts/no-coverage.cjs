// Loaded before everything else in the test runner and in each test file. To measure coverage, which we don't do, the
// runner passes every module that a test or one of its threads loads through a loader on a thread of its own: a
// small file takes twice as long, one that starts threads even longer.
const module_ = require('node:module');

const COVERAGE = '@tapjs/processinfo';

// It takes what it finds here for its own state, and registers nothing.
globalThis[Symbol.for(`${COVERAGE}.ProcessInfoNodeData`)] = { files: [] };
const { register } = module_;
module_.register = (specifier, ...rest) => {
  if (!String(specifier).includes(COVERAGE)) register(specifier, ...rest);
};
