import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { root } from './paths.js';

/** Signals a terminal sends to the whole foreground process group; a copy from here would be the second one. */
const TERMINAL_SIGNALS = ['SIGINT', 'SIGQUIT', 'SIGHUP'];

/** Runs a command in the checkout and resolves with its exit code; a signal counts as 128 + its number. */
export function run(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: root, stdio: 'inherit', ...options });
    const stopForwarding = forwardSignals(child);
    child.once('error', (error) => {
      stopForwarding();
      reject(error);
    });
    child.once('close', (code, signal) => {
      stopForwarding();
      resolve(signal === null ? code : 128 + os.constants.signals[signal]);
    });
  });
}

/** Runs a script under the given Node in the caller's folder and ends this process the way the script ended. */
export async function runToEnd(node, args) {
  const env = { ...process.env, PATH: `${path.dirname(node)}${path.delimiter}${process.env.PATH ?? ''}` };
  const [script, ...rest] = args;
  process.exitCode = await run(node, [path.resolve(root, script), ...rest], { cwd: process.cwd(), env });
}

function forwardSignals(child) {
  const handlers = ['SIGTERM', 'SIGUSR2', ...TERMINAL_SIGNALS].map((signal) => {
    const handler = () => {
      if (TERMINAL_SIGNALS.includes(signal) && inForeground()) return;
      child.kill(signal);
    };
    process.on(signal, handler);
    return [signal, handler];
  });
  return () => {
    for (const [signal, handler] of handlers) process.off(signal, handler);
  };
}

/** True when this process sits in its terminal's foreground group, where Ctrl-C reaches the child without help. */
function inForeground() {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    const [, , group, , , foregroundGroup] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return group === foregroundGroup;
  } catch {
    return [process.stdin, process.stdout, process.stderr].some((stream) => stream.isTTY === true);
  }
}
