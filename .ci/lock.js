import { mkdirSync, readFileSync, statSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import { inRoot, progress } from './paths.js';

const LOCK = inRoot('dist', '.lock');
const HEARTBEAT_MS = 2000;
/** A holder that has not been heard of for this long is gone, even when its process id is taken by another process by now. */
const ABANDONED_MS = 120_000;

/** Runs `work` while no other run of this checkout installs or builds. */
export async function withLock(work) {
  mkdirSync(inRoot('dist'), { recursive: true });
  await acquire();
  const heartbeat = setInterval(() => utimesSync(LOCK, new Date(), new Date()), HEARTBEAT_MS);
  process.on('exit', release);
  try {
    return await work();
  } finally {
    clearInterval(heartbeat);
    process.off('exit', release);
    release();
  }
}

async function acquire() {
  let told = false;
  while (!tryAcquire()) {
    if (isAbandoned()) {
      release();
      continue;
    }
    if (!told) progress('another run is installing or building here; waiting for it');
    told = true;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

function tryAcquire() {
  try {
    writeFileSync(LOCK, `${process.pid} ${os.hostname()}\n`, { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

function isAbandoned() {
  try {
    const [pid, host] = readFileSync(LOCK, 'utf8').trim().split(' ');
    const silentMs = Date.now() - statSync(LOCK).mtimeMs;
    if (silentMs > ABANDONED_MS) return true;
    // An empty file is a holder between creating it and writing to it.
    return host === os.hostname() && (Number(pid) === process.pid || !isAlive(Number(pid)));
  } catch (error) {
    if (error.code === 'ENOENT') return false;
    throw error;
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code !== 'ESRCH';
  }
}

function release() {
  try {
    unlinkSync(LOCK);
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
}
