import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { run } from './child.js';
import { inRoot, progress } from './paths.js';

const STAMP = inRoot('node_modules', '.gwctl-lock-hash');
const OLDEST_USABLE = [22, 19];

/** Makes node_modules hold what package-lock.json names; does nothing when it does already. */
export async function install() {
  const lock = readFileSync(inRoot('package-lock.json'), 'utf8');
  const hash = createHash('sha256').update(lock).digest('hex');
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === hash) return;
  if (!holdsLockedVersions(JSON.parse(lock))) {
    progress(existsSync(inRoot('node_modules')) ? 'updating packages' : 'installing packages');
    // `npm ci` refuses a lock file that lacks other platforms' optional packages; `install --no-save` keeps to the locked
    // versions and hashes just the same and leaves the lock file alone. Errors are shown whatever npm's own log level.
    const code = await npm(['install', '--no-save', '--loglevel=error', '--no-audit', '--no-fund']);
    if (code !== 0) throw new Error(`npm install ended with code ${code}; is the npm registry reachable?`);
  }
  writeFileSync(STAMP, hash);
}

/** The Node that the lock file pins; its platform package is fetched here when npm was told to run no install scripts. */
export async function pinnedNode() {
  const node = inRoot('node_modules', 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
  const wanted = JSON.parse(readFileSync(inRoot('node_modules', 'node', 'package.json'), 'utf8')).version;
  if ((await versionOf(node)) === wanted) return node;
  progress(`fetching Node ${wanted}`);
  await npm(['rebuild', 'node', '--ignore-scripts=false', '--loglevel=error']);
  if ((await versionOf(node)) === wanted) return node;
  await run(process.execPath, ['installArchSpecificPackage.js'], {
    cwd: inRoot('node_modules', 'node'),
    stdio: ['ignore', 2, 2],
  }).catch(() => undefined);
  if ((await versionOf(node)) === wanted) return node;
  return machineNode(wanted);
}

function machineNode(wanted) {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major < OLDEST_USABLE[0] || (major === OLDEST_USABLE[0] && minor < OLDEST_USABLE[1])) {
    throw new Error(
      `Node ${wanted} could not be installed (npm package "node"), and this machine's Node ${process.versions.node} is older than ${OLDEST_USABLE.join('.')}`,
    );
  }
  progress(`Node ${wanted} could not be installed; going on with this machine's Node ${process.versions.node}`);
  return process.execPath;
}

async function versionOf(node) {
  if (!existsSync(node)) return undefined;
  try {
    const { stdout } = await promisify(execFile)(node, ['--version']);
    return stdout.trim().slice(1);
  } catch {
    // A binary that does not start (another platform's, cut off) is as good as none.
    return undefined;
  }
}

/** Whether node_modules, by npm's own record of it, has each locked package in the locked version. */
function holdsLockedVersions(lock) {
  const record = inRoot('node_modules', '.package-lock.json');
  if (!existsSync(record)) return false;
  const installed = JSON.parse(readFileSync(record, 'utf8')).packages ?? {};
  return Object.entries(lock.packages).every(([where, locked]) => {
    if (where === '') return true;
    const found = installed[where];
    return found === undefined ? locked.optional === true : found.version === locked.version;
  });
}

function npm(args) {
  const options = { stdio: ['ignore', 2, 2], shell: process.platform === 'win32' };
  const script = process.env.npm_execpath;
  if (script?.endsWith('npm-cli.js')) return run(process.execPath, [script, ...args], { ...options, shell: false });
  return run('npm', args, options);
}
