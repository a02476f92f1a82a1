// Loads the uWebSockets addon that the registry package uws-pack carries, in place of the
// upstream package, which is only published as a git tag. The file's sha256 is checked
// first: a native addon is code, and this one comes from a third party's repack.
const crypto = require('node:crypto');
const fs = require('node:fs');
const path = require('node:path');

// docs/dependencies.md says where these files come from and how to replace them.
const KNOWN_SHA256 = {
  'uws_linux_x64_127.node': '8cabc918bbf9a07323e54f89a33882491080b2eb35df0607f473ccdb1f3c31af',
};

const name = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`;
const file = module.paths
  .map((dir) => path.join(dir, 'uws-pack', 'dist', 'bin', name))
  .find((candidate) => fs.existsSync(candidate));
if (!file) throw new Error(`uWebSockets.js: no ${name} in uws-pack`);
const sha256 = crypto.createHash('sha256').update(fs.readFileSync(file)).digest('hex');
if (KNOWN_SHA256[name] !== sha256)
  throw new Error(`uWebSockets.js: ${name} has sha256 ${sha256}, which is not the known one`);
module.exports = require(file);
