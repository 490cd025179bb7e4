import { exitCodes, GwError, messageOf, systemCodeOf } from '../../src/shared/errors.ts';
import { portHolder } from './port-holder.ts';

/** A port that could not be opened. */
export class BindError extends GwError {
  readonly address: string;
  readonly systemCode: string | undefined;

  constructor(message: string, options: { address: string; cause: unknown; hint: string }) {
    super(message, { code: 'GW_BIND', hint: options.hint, cause: options.cause, exitCode: exitCodes.failed });
    this.name = 'BindError';
    this.address = options.address;
    this.systemCode = systemCodeOf(options.cause);
  }
}

/** Says which address could not be opened, why, and by whom it is held where that can be told. */
export async function bindError(
  bind: { key: string; address: string; port: number },
  cause: unknown,
): Promise<BindError> {
  const { key, address, port } = bind;
  switch (systemCodeOf(cause)) {
    case 'EADDRINUSE': {
      const holder = await portHolder(port);
      const by = holder === undefined ? '' : ` by ${holder.command} (process ${holder.pid})`;
      return new BindError(`port ${port} of ${key} (${address}) is already in use${by}`, {
        address,
        cause,
        hint: 'stop that process, or change `port` of the gateway in the configuration',
      });
    }
    case 'EACCES':
      return new BindError(`port ${port} of ${key} (${address}) may not be opened by this user`, {
        address,
        cause,
        hint: 'use a port of 1024 or above, or give the process the right to open lower ones (CAP_NET_BIND_SERVICE)',
      });
    case 'EADDRNOTAVAIL':
    case 'EAFNOSUPPORT':
      return new BindError(`${address} of ${key} is no address of this machine`, {
        address,
        cause,
        hint: 'without IPv6 on this machine, set `config.enableIpv6: false` (or IPV6_ENABLED=false)',
      });
    default:
      return new BindError(`${key} (${address}) cannot be opened: ${messageOf(cause)}`, {
        address,
        cause,
        hint: 'check the address',
      });
  }
}
