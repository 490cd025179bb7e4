import { formatDuration, parseDurationMs } from '../../src/shared/duration.ts';
import type { LogFilter } from '../../src/shared/log.ts';
import { text, type Endpoint, type EndpointReply } from './endpoint.ts';
import type { LogLevels } from './log-levels.ts';

/** A day: a change that is to stay longer can as well be made without an end. */
const longestChangeMs = 86_400_000;

const USAGE = `usage: POST /logging?level=LEVELS   adds levels to the filter
       POST /logging?reset            back to the levels of the start
       POST /logging?level=LEVELS&for=5m   for a while, then back by itself
       GET  /logging                  shows the filter, and what it goes back to
LEVELS: off, error, warn, info, debug, trace, or scope=level; several with commas: info,config=debug
`;

/** `/logging`: shows and changes log levels while the process runs. */
export function loggingEndpoint(levels: LogLevels): Endpoint {
  return {
    path: '/logging',
    methods: ['GET', 'POST'],
    guarded: ['POST'],
    summary: 'Log levels: shown with GET, changed with POST',
    parameters: 'level=info,scope=debug adds, reset goes back to the start, for=5m only for that long',
    handle: ({ method, query }) => {
      const changes = query.has('level') || query.has('reset') || query.has('for');
      if (!changes) return shown(levels);
      if (method === 'GET') return text(405, 'levels are changed with POST\n', { allow: 'POST' });
      return change(levels, query);
    },
  };
}

function change(levels: LogLevels, query: URLSearchParams): EndpointReply {
  const level = query.get('level');
  if (level === null && !query.has('reset')) return refused('for goes with level or reset');
  const durationMs = durationOf(query.get('for'));
  if (typeof durationMs === 'string') return refused(durationMs);
  const base: LogFilter = query.has('reset') ? levels.initial : levels.current;
  const changed = level === null ? base : base.with(level);
  if (typeof changed === 'string') return refused(`Invalid level provided: ${changed}`);
  levels.change(changed, durationMs);
  return shown(levels);
}

/** Milliseconds, undefined for a change that stays, or the reason for refusing as a text. */
function durationOf(value: string | null): number | undefined | string {
  if (value === null) return undefined;
  const ms = parseDurationMs(value);
  if (ms === undefined)
    return `Invalid duration provided: ${JSON.stringify(value.slice(0, 64))}, expected one like 5m or 90s`;
  if (ms >= 1 && ms <= longestChangeMs) return ms;
  return `Invalid duration provided: expected 1ms to ${formatDuration(longestChangeMs)}`;
}

function refused(reason: string): EndpointReply {
  return text(400, `${reason}\n${USAGE}`);
}

function shown({ current, pending }: LogLevels): EndpointReply {
  const back = pending === null ? '' : `back to ${String(pending.filter)} in ${formatDuration(pending.inMs)}\n`;
  return text(200, `current log level is ${String(current)}\n${back}`);
}
