import { GwError } from '../../src/shared/errors.ts';
import { LogFilter, Logger } from '../../src/shared/log.ts';
import type { Expressions } from '../expression/contract.ts';
import type { Services } from '../services/contract.ts';

export function noExpressions(): Expressions {
  return {
    compile: (source) => {
      throw new GwError(`expressions cannot be evaluated: ${source}`, { code: 'GW_POLICY_INVALID' });
    },
  };
}

export function noServices(): Services {
  return {
    open: () => {
      throw new GwError('policy services cannot be called', { code: 'GW_POLICY_INVALID' });
    },
  };
}

/** For compiling only: what policies would log has no reader. */
export function silentLog(): Logger {
  const filter = LogFilter.parse('off');
  if (typeof filter === 'string') throw new TypeError(filter);
  return new Logger({ filter, format: 'text', write() {} });
}
