import type { Headers } from '../../../exchange/headers.ts';
import type { Notes } from '../contract.ts';

/** What Bedrock is known to take of Anthropic's betas. */
const KNOWN: readonly string[] = [
  'computer-use-2025-01-24',
  'token-efficient-tools-2025-02-19',
  'interleaved-thinking-2025-05-14',
  'output-128k-2025-02-19',
  'dev-full-thinking-2025-05-14',
  'context-1m-2025-08-07',
  'context-management-2025-06-27',
  'effort-2025-11-24',
  'tool-search-tool-2025-10-19',
  'tool-examples-2025-10-29',
];

/** The configured list, in which `default` stands for those that Bedrock is known to take; null is that list alone. */
function allowedBetas(configured: readonly string[] | null): ReadonlySet<string> {
  if (configured === null) return new Set(KNOWN);
  return new Set(configured.flatMap((beta) => (beta === 'default' ? KNOWN : [beta])));
}

/** What a client asks for and Bedrock takes: another one would make it refuse the request. Undefined for none. */
export function betasFor(
  headers: Headers,
  configured: readonly string[] | null,
  notes: Notes,
): readonly string[] | undefined {
  const asked = headers
    .getAll('anthropic-beta')
    .flatMap((value) => value.split(','))
    .map((beta) => beta.trim())
    .filter((beta) => beta !== '');
  if (asked.length === 0) return undefined;
  const allowed = allowedBetas(configured);
  for (const beta of asked) if (!allowed.has(beta)) notes.dropped(`anthropic-beta: ${beta}`);
  const taken = [...new Set(asked)].filter((beta) => allowed.has(beta));
  return taken.length === 0 ? undefined : taken;
}
