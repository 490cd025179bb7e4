import type { BasicAuth, HtpasswdUser } from '../../../src/config/ir/index.ts';
import { messageOf } from '../../../src/shared/errors.ts';
import { compileLocation } from '../../credentials/location.ts';
import { octetsOf } from '../../credentials/octets.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import { Headers } from '../../exchange/headers.ts';
import { refuse } from '../../exchange/refusal.ts';
import { clientLeft, requestTimeout, settledWithin } from '../../exchange/wait.ts';
import type { Outcome, PolicyContext, RequestStep } from '../contract.ts';
import { next } from '../contract.ts';
import { type Credentials, parseCredentials } from './credentials.ts';
import { PasswordChecker, type PendingCheck } from './password-checker.ts';

const FAILURE = 'basic authentication failure';
const busy: Outcome = { kind: 'fail', refusal: refuse(503, 'BasicAuth', `${FAILURE}: too many logins at once`) };
const broken: Outcome = { kind: 'fail', refusal: refuse(503, 'BasicAuth', `${FAILURE}: cannot check passwords now`) };

/** Lets in who knows the password of a user, and takes the credentials out of the request. */
export function basicAuth(spec: BasicAuth, { source, deps }: PolicyContext): RequestStep {
  const location = compileLocation(spec.location, deps.expressions, 'basicAuth location');
  const users = new Map(spec.users.map((user) => [user.name, user]));
  // A name that does not exist costs what one that does costs, so that the time tells nobody which do.
  const decoy = spec.users[0];
  const log = deps.log.scope('basic_auth');
  const checker = deps.stores.get('basicAuth', () => new PasswordChecker());
  const missing = challenge(spec, 'no basic authentication credentials found');
  const invalid = challenge(spec, 'invalid credentials');

  const settle = (exchange: Exchange, name: string, matches: boolean): Outcome => {
    if (!matches || !users.has(name)) {
      exchange.trace?.applied('basic_auth', `name or password are wrong (from ${source})`, 'error');
      return invalid;
    }
    location.remove(exchange);
    exchange.attributes.basicAuth = { username: name };
    exchange.trace?.applied('basic_auth', `${JSON.stringify(name)} has logged in (from ${source})`);
    return next;
  };

  const wait = async (exchange: Exchange, name: string, check: PendingCheck): Promise<Outcome> => {
    const how = await settledWithin(exchange, check.verdict, deps.clock);
    check.leave();
    if (how !== 'settled') {
      const refusal = how === 'deadline' ? requestTimeout : clientLeft;
      exchange.trace?.applied(
        'basic_auth',
        `${refusal.message} while the password was checked (from ${source})`,
        'error',
      );
      return { kind: 'fail', refusal };
    }
    try {
      return settle(exchange, name, await check.verdict);
    } catch (error) {
      log.warn('the thread that checks passwords broke', { error: messageOf(error) });
      exchange.trace?.applied('basic_auth', `the password cannot be checked (from ${source})`, 'error');
      return broken;
    }
  };

  const verify = (exchange: Exchange, credentials: Credentials, user: HtpasswdUser): Outcome | Promise<Outcome> => {
    const { name } = credentials;
    if (deps.dryRun !== undefined) return settle(exchange, name, checker.checkHere(credentials, user));
    const check = checker.check(credentials, user);
    if (typeof check === 'boolean') return settle(exchange, name, check);
    if (check !== null) return wait(exchange, name, check);
    exchange.trace?.applied('basic_auth', `too many logins at once (from ${source})`, 'error');
    return busy;
  };

  return (exchange) => {
    const encoded = location.read(exchange);
    if (encoded === null) {
      if (spec.mode === 'optional') exchange.trace?.skipped('basic_auth', 'the request has no credentials');
      else exchange.trace?.applied('basic_auth', `the request has no credentials (from ${source})`, 'error');
      return spec.mode === 'optional' ? next : missing;
    }
    const credentials = parseCredentials(encoded);
    const user = credentials === null ? undefined : (users.get(credentials.name) ?? decoy);
    return credentials === null || user === undefined
      ? settle(exchange, '', false)
      : verify(exchange, credentials, user);
  };
}

/** A proxy's credentials have a challenge and a status of their own (RFC 9110 section 11.7). */
function challenge({ location, realm }: BasicAuth, why: string): Outcome {
  const toProxy = location.kind === 'header' && location.name === 'proxy-authorization';
  const value = `Basic realm="${realm.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
  // RFC 7617 section 2.1: the charset is UTF-8.
  const headers = Headers.from([[toProxy ? 'proxy-authenticate' : 'www-authenticate', octetsOf(value)]]);
  return { kind: 'fail', refusal: { ...refuse(toProxy ? 407 : 401, 'BasicAuth', `${FAILURE}: ${why}`), headers } };
}
