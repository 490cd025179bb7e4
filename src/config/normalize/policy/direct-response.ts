import type { DirectBody, DirectResponse } from '../../ir/policy/direct-response.ts';
import type { DirectResponseSpec } from '../../schema/policy/direct-response.ts';
import { mapChoice } from './conditional.ts';

type AnswerSpec = DirectResponseSpec['entries'][number]['settings'];

export function directResponse(spec: DirectResponseSpec): DirectResponse {
  return mapChoice(spec, (settings) => ({
    status: settings.status,
    body: bodyOf(settings),
    headers: Object.entries(settings.headers ?? {}),
  }));
}

function bodyOf({ body = '', bodyExpression }: AnswerSpec): DirectBody {
  if (bodyExpression !== undefined) return { kind: 'expression', expression: bodyExpression };
  return { kind: 'bytes', bytes: typeof body === 'string' ? new TextEncoder().encode(body) : Uint8Array.from(body) };
}
