import { CLOUD_TIMEOUT_MS } from '../cloud.ts';
import { CredentialError } from '../failure.ts';
import { readAnswer, secondsOf, tokenIn } from '../token-answer.ts';
import type { Expiring } from '../token-cache.ts';
import type { AzureSource } from './compile.ts';

/** How each program is asked, and what its answer calls the token. */
const TOOLS = [
  { program: 'az', args: ['account', 'get-access-token', '--output', 'json', '--scope'], token: 'accessToken' },
  { program: 'azd', args: ['auth', 'token', '--output', 'json', '--scope'], token: 'token' },
] as const;

/** Who is logged in with the tools of developers: the first of them that gives a token. */
export const developerTools: AzureSource = async (cloud, scope) => {
  const failures: unknown[] = [];
  for (const { program, args, token } of TOOLS) {
    try {
      const text = await cloud.run({ program, args: [...args, scope], timeoutMs: CLOUD_TIMEOUT_MS });
      return tokenOf(text, token, program);
    } catch (error) {
      failures.push(error);
    }
  }
  throw new CredentialError('nobody is logged in with the Azure tools', { cause: new AggregateError(failures, '') });
};

/** `expiresOn` is local time where `expires_on` (epoch seconds) stands beside it. */
function tokenOf(text: string, name: string, program: string): Expiring<string> {
  const answer = readAnswer(text, program);
  const { expires_on: until, expiresOn } = answer;
  const seconds = secondsOf(until);
  const end =
    seconds === null && typeof expiresOn === 'string' ? Date.parse(expiresOn) : (seconds ?? Number.NaN) * 1000;
  return { value: tokenIn(answer, name, program), expiresAtMs: Number.isNaN(end) ? null : end };
}
