#!/usr/bin/env node
// Fast paths, the compile cache, then the command line. Plain JavaScript that an older Node can still read, so that it can be told why not.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import module from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const argv = process.argv.slice(2);
const [major, minor] = process.versions.node.split('.').map(Number);

if (argv.length === 1 && argv[0] === '--version') {
  process.stdout.write(`gwctl ${JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8')).version}\n`);
} else if ((major < 22 || (major === 22 && minor < 19)) && fs.existsSync(pinnedNode())) {
  await onPinnedNode();
} else if (major < 22 || (major === 22 && minor < 19)) {
  fail(
    `gwctl needs Node 22.19 or newer, and this is Node ${process.versions.node}`,
    'npm start, which brings its own Node',
    'GW_NODE_VERSION',
  );
} else if (!fs.existsSync(built('commands/_base/process.js'))) {
  fail('gwctl has not been built', 'npm run build', 'GW_NOT_BUILT');
} else {
  process.env.NODE_ENV = process.env.NODE_ENV || 'production';
  const home = process.env.XDG_CACHE_HOME || (os.homedir() && path.join(os.homedir(), '.cache'));
  if (home) module.enableCompileCache(path.join(home, 'gwctl', 'compile'));
  if (!(await completion())) {
    const { runProcess } = await import(url('commands/_base/process.js'));
    await runProcess({ argv, root });
  }
}

/** Shells load their completion at start, so it is made from the manifest without loading the rest. */
async function completion() {
  const manifest = path.join(root, 'oclif.manifest.json');
  if (argv.length !== 2 || argv[0] !== 'completion' || !fs.existsSync(manifest)) return false;
  const { completionCommands, completionScript, shells } = await import(url('commands/_base/completion.js'));
  if (!shells.includes(argv[1])) return false;
  const commands = Object.values(JSON.parse(fs.readFileSync(manifest, 'utf8')).commands);
  process.stdout.on('error', (error) => {
    if (error.code === 'EPIPE') return;
    fail(`cannot write the answer: ${error.message}`, 'another file', 'GW_WRITE');
  });
  process.stdout.write(completionScript(argv[1], 'gwctl', completionCommands(commands)));
  return true;
}

/** The Node that a checkout brings along. */
function pinnedNode() {
  return path.join(root, 'node_modules', 'node', 'bin', 'node');
}

/** Starts over on the pinned Node; this process only waits, and hands on what the child does not get by itself. */
async function onPinnedNode() {
  const child = spawn(pinnedNode(), [fileURLToPath(import.meta.url), ...argv], { stdio: 'inherit' });
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGHUP'])
    process.on(signal, () => {
      // A second Ctrl-C ends at once, so a copy of the first would cut the clean end short.
      if (!inForeground()) child.kill(signal);
    });
  const [code, signal] = await once(child, 'close');
  process.exitCode = signal === null ? code : 128 + os.constants.signals[signal];
}

/** In the foreground of its terminal, where Ctrl-C reaches the child without help. */
function inForeground() {
  try {
    const stat = fs.readFileSync('/proc/self/stat', 'utf8');
    const [, , group, , , foregroundGroup] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return group === foregroundGroup;
  } catch {
    return [process.stdin, process.stdout, process.stderr].some((stream) => stream.isTTY === true);
  }
}

function built(file) {
  return path.join(root, 'dist', file);
}

function url(file) {
  return pathToFileURL(built(file)).href;
}

function fail(message, hint, code) {
  process.stderr.write(`Error: ${message}\nTry this: ${hint}\nCode: ${code}\n`);
  process.exitCode = 1;
}
