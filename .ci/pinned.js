// Runs a script of this repository on the Node version the repository pins, after installing and building what is out of date:
//   node .ci/pinned.js <script> [arguments…]
//   node .ci/pinned.js --build-only
// Needs nothing but Node 20 and npm, so it imports no package.
import { build } from './build.js';
import { runToEnd } from './child.js';
import { install, pinnedNode } from './install.js';
import { withLock } from './lock.js';

const [script, ...args] = process.argv.slice(2);
if (script === undefined) {
  process.stderr.write('usage: node .ci/pinned.js <script> [arguments…] | --build-only\n');
  process.exit(2);
}

try {
  const node = await withLock(async () => {
    await install();
    const pinned = await pinnedNode();
    await build(pinned);
    return pinned;
  });
  if (script !== '--build-only') await runToEnd(node, [script, ...args]);
} catch (error) {
  process.stderr.write(`gwctl: ${error instanceof Error ? error.message : String(error)}\n`);
  // A build server reads the closing line also of a run that did not come to its tests.
  if (script === '.ci/test.js') process.stdout.write('0 passed, 1 failed\n');
  process.exitCode = 1;
}
