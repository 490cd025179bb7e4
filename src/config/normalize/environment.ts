import type { ListenAddress } from '../ir/process.ts';
import { parseAddress } from './address.ts';
import type { Context } from './context.ts';

/** Environment variables that stand above the file; a value that cannot be read is a problem. */
export class Environment {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  read<T>(name: string, parse: (text: string) => T | undefined, expected: string): T | undefined {
    const text = this.#context.host.env[name]?.trim();
    if (text === undefined || text === '') return undefined;
    const value = parse(text);
    if (value === undefined) this.fail(name, `expected ${expected}, found ${shown(name, text)}`);
    return value;
  }

  /** The first of several variables that is set, and which it is. */
  first<T>(
    names: readonly string[],
    parse: (text: string) => T | undefined,
    expected: string,
  ): { readonly name: string; readonly value: T } | undefined {
    for (const name of names) {
      const value = this.read(name, parse, expected);
      if (value !== undefined) return { name, value };
    }
    return undefined;
  }

  fail(name: string, message: string): void {
    this.#context.problems.push({
      path: [],
      subject: `environment variable ${name}`,
      code: 'GW_CONFIG_ENVIRONMENT',
      message,
    });
  }

  address(
    name: string,
    from: {
      readonly key: string;
      readonly text: string | undefined;
      readonly fallback: string;
      readonly enableIpv6: boolean;
    },
  ): ListenAddress {
    const override = this.read(name, (text) => text, 'an address');
    const address = parseAddress(override ?? from.text ?? from.fallback, from.enableIpv6);
    if (typeof address !== 'string') return address;
    if (override === undefined) this.#context.report(['config', from.key], 'GW_CONFIG_VALUE', address);
    else this.fail(name, address);
    return { kind: 'off' };
  }
}

/** Headers may hold credentials, and keys are some. */
function shown(name: string, text: string): string {
  return /_(HEADERS|KEY)$/.test(name) ? 'something else' : JSON.stringify(text.slice(0, 60));
}
