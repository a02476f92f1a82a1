// Loaded in front of the program (node --require): keeps in node_modules/.cache what Node would make of every source at
// every start, JavaScript without types and V8's code for it. Node 22 caches only the latter, and its type stripper
// costs more than a short command. Without this file everything works the same, only slower. Run by itself it strips all.
// Plain CommonJS: TypeScript would need that stripper, and --import takes a URL where a checkout has a path.
const fs = require('node:fs');
const { enableCompileCache, registerHooks, stripTypeScriptTypes } = require('node:module');
const path = require('node:path');
const { fileURLToPath, pathToFileURL } = require('node:url');
const { crc32 } = require('node:zlib');

const root = path.join(__dirname, '..');
const modules = path.join(root, 'node_modules');
const cache = path.join(modules, '.cache', 'postrider');
/** Another version of Node may strip otherwise. */
const stripped = path.join(cache, `stripped-${process.version}`);
const sources = pathToFileURL(`${root}${path.sep}`).href;
const packages = pathToFileURL(`${modules}${path.sep}`).href;

/**
 * A process runs what it reads from the cache, so only the owner of the checkout's packages writes it: root does not
 * run what a service's user wrote, and leaves no files that the owner cannot remove.
 */
function mayWrite() {
  try {
    return fs.statSync(modules).uid === process.geteuid();
  } catch {
    return false;
  }
}

/** Ends a cached file: which source it was made from, and that it is complete. */
function sealOf(source, code) {
  return `\n//# ${source.length} ${crc32(source)} ${crc32(code)}\n`;
}

function readCached(file, source) {
  try {
    const text = fs.readFileSync(file, 'utf8');
    const end = text.lastIndexOf('\n//# ');
    const code = text.slice(0, Math.max(end, 0));
    return text === code + sealOf(source, code) ? code : null;
  } catch {
    return null;
  }
}

/** Under a name of its own first: other processes and threads read and write at the same time. */
function writeCached(file, text) {
  const draft = `${file}.${process.pid}-${Math.random().toString(36).slice(2)}`;
  try {
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(draft, text, { flag: 'wx' });
    fs.renameSync(draft, file);
  } catch {
    fs.rmSync(draft, { force: true }); // a full disk, or one that can only be read
  }
}

/** Node warns that the function is experimental; Node does the same to every TypeScript file without a warning. */
function strip(source) {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return stripTypeScriptTypes(source);
  } finally {
    process.emitWarning = emitWarning;
  }
}

const isWriter = mayWrite();

function codeOf(file) {
  const source = fs.readFileSync(file, 'utf8');
  const cached = path.join(stripped, path.relative(root, file));
  const known = readCached(cached, source);
  if (known !== null) return known;
  const code = strip(source);
  if (isWriter) writeCached(cached, code + sealOf(source, code));
  return code;
}

function load(url, context, nextLoad) {
  if (!url.endsWith('.ts') || !url.startsWith(sources) || url.startsWith(packages)) return nextLoad(url, context);
  let source;
  try {
    source = codeOf(fileURLToPath(url));
  } catch {
    return nextLoad(url, context); // Node itself says best what is wrong with the file
  }
  return { format: 'module', source, shortCircuit: true };
}

/** For users who can only read the checkout: without this they would have what its owner happens to have used. */
function stripAll() {
  const folder = path.join(root, 'src');
  for (const name of fs.readdirSync(folder, { recursive: true })) {
    if (name.endsWith('.ts')) codeOf(path.join(folder, name));
  }
}

if (require.main === module) {
  if (isWriter) stripAll();
} else {
  if (isWriter) enableCompileCache(cache);
  registerHooks({ load });
}
