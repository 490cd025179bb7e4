import type { JwtAuth } from '../../../src/config/ir/index.ts';
import { compileLocation } from '../../credentials/location.ts';
import type { VerifiedJwt } from '../../exchange/attributes.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import { refuse } from '../../exchange/refusal.ts';
import { recheck, type Rechecked } from '../../jwt/recheck.ts';
import { tokenVerifier } from '../../jwt/verifier.ts';
import { type Outcome, type PolicyContext, next, type RequestStep } from '../contract.ts';
import { mcpAuthentication } from '../mcp-authentication/compile.ts';

const KIND = 'jwt';

/** Verifies the token of a request; MCP clients are told where to get one. */
export function jwtAuth(spec: JwtAuth, context: PolicyContext): RequestStep {
  const verify = verification(spec, context);
  return spec.mcp === undefined ? verify : mcpAuthentication(spec.mcp, verify, context);
}

function verification(spec: JwtAuth, context: PolicyContext): RequestStep {
  const { mode, preserveToken } = spec;
  const { deps, source } = context;
  const location = compileLocation(spec.location, deps.expressions, 'jwtAuth location');
  const verifier = tokenVerifier(spec.providers, deps);

  const missing = (exchange: Exchange): Outcome => {
    if (mode !== 'strict') {
      if (exchange.trace !== null) exchange.trace.skipped(KIND, `no token (from ${source})`);
      return next;
    }
    if (exchange.trace !== null) exchange.trace.applied(KIND, `token missing (from ${source})`, 'error');
    return refused('no bearer token found');
  };
  const accepted = (exchange: Exchange, jwt: VerifiedJwt): Outcome => {
    exchange.attributes.jwt = jwt;
    // A further one, which nobody has looked at, must not pass for the one that was verified.
    if (preserveToken) location.removeOthers(exchange);
    else location.remove(exchange);
    if (exchange.trace !== null)
      exchange.trace.applied(KIND, `accepted, claims ${JSON.stringify(jwt.claims)} (from ${source})`);
    return next;
  };
  const rejected = (exchange: Exchange, detail: string): Outcome => {
    if (mode === 'permissive') {
      if (exchange.trace !== null) exchange.trace.skipped(KIND, `${detail} (from ${source})`, 'warn');
      return next;
    }
    if (exchange.trace !== null) exchange.trace.applied(KIND, `${detail} (from ${source})`, 'error');
    return refused(detail);
  };
  const settle = (exchange: Exchange, verified: Rechecked): Outcome => {
    if (verified.kind === 'valid') return accepted(exchange, verified.jwt);
    if (verified.kind === 'cut') return { kind: 'fail', refusal: verified.refusal };
    return rejected(exchange, verified.detail);
  };
  const again = async (exchange: Exchange, token: string, refetch: () => Promise<void>): Promise<Outcome> =>
    settle(exchange, await recheck(exchange, { verifier, token, refetch }, deps.clock));

  return (exchange) => {
    const token = location.read(exchange);
    if (token === null) return missing(exchange);
    const verified = verifier.verify(token);
    return verified.kind === 'unknownKey' && verified.refetch !== null
      ? again(exchange, token, verified.refetch)
      : settle(exchange, verified);
  };
}

function refused(detail: string): Outcome {
  return { kind: 'fail', refusal: refuse(401, 'JwtAuth', `authentication failure: ${detail}`) };
}
