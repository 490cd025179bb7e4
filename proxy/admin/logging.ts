import type { LogFilter } from '../../src/shared/log.ts';
import { text, type Endpoint, type EndpointReply } from './endpoint.ts';

/** The filter of every thread, as `/logging` reads and changes it. */
export interface LogControl {
  readonly current: LogFilter;
  /** As it was when the process started. */
  readonly initial: LogFilter;
  set(filter: LogFilter): void;
}

const USAGE = `usage: POST /logging?level=LEVELS   adds levels to the filter
       POST /logging?reset            back to the levels of the start
       GET  /logging                  shows the filter
LEVELS: off, error, warn, info, debug, trace, or scope=level; several with commas: info,config=debug
`;

/** `/logging`: shows and changes log levels while the process runs. */
export function loggingEndpoint(control: LogControl): Endpoint {
  return {
    path: '/logging',
    methods: ['GET', 'POST'],
    guarded: ['POST'],
    summary: 'Log levels: shown with GET, changed with POST',
    parameters: 'level=info,scope=debug adds, reset goes back to the start',
    handle: ({ method, query }) => {
      const changes = query.has('level') || query.has('reset');
      if (!changes) return shown(control.current);
      if (method === 'GET') return text(405, 'levels are changed with POST\n', { allow: 'POST' });
      return change(control, query);
    },
  };
}

function change(control: LogControl, query: URLSearchParams): EndpointReply {
  const base = query.has('reset') ? control.initial : control.current;
  const level = query.get('level');
  const changed = level === null ? base : base.with(level);
  if (typeof changed === 'string') return text(400, `Invalid level provided: ${changed}\n${USAGE}`);
  control.set(changed);
  return shown(changed);
}

function shown(filter: LogFilter): EndpointReply {
  return text(200, `current log level is ${String(filter)}\n`);
}
