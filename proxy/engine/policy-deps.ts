import { GwError } from '../../src/shared/errors.ts';
import { LogFilter, Logger } from '../../src/shared/log.ts';
import type { GatewayConfig } from '../../src/config/ir/index.ts';
import type { Expressions } from '../expression/contract.ts';
import { createExpressions } from '../expression/expressions.ts';
import type { Services } from '../services/contract.ts';

/** Expressions under the settings of a configuration. */
export function expressionsOf({ process }: GatewayConfig): Expressions {
  const { sensitiveHeaders, customFunctions, env } = process;
  return createExpressions({ sensitiveHeaders, customFunctions, env });
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
