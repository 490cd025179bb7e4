import type { JsonObject } from '../../exchange/attributes.ts';
import { BufferedBody } from '../../exchange/body.ts';
import { Headers } from '../../exchange/headers.ts';
import type { HttpRequest, HttpResponse } from '../../exchange/message.ts';
import { pathOf, queryOf } from '../../exchange/message.ts';

/** What a request for models asks: all of them, or one. */
export interface ModelQuery {
  readonly shape: Shape;
  /** Undefined: all. */
  readonly id: string | undefined;
}

/** How a vendor writes models down. */
interface Shape {
  one(id: string, created: number): JsonObject;
  all(models: readonly JsonObject[]): JsonObject;
}

const openai: Shape = {
  one: (id, created) => ({ id, object: 'model', created, owned_by: 'openai' }),
  all: (data) => ({ data, object: 'list' }),
};

const anthropic: Shape = {
  one: (id, created) => ({
    type: 'model',
    id,
    display_name: id,
    created_at: new Date(created * 1000).toISOString().replace('.000', ''),
  }),
  all: (data) => ({
    data,
    has_more: false,
    first_id: data[0]?.['id'] ?? null,
    last_id: data.at(-1)?.['id'] ?? null,
  }),
};

const gemini: Shape = {
  one: (id) => ({
    name: `models/${id}`,
    displayName: id,
    supportedGenerationMethods: ['generateContent', 'countTokens'],
  }),
  all: (models) => ({ models }),
};

/** Undefined for a request about something else than models. */
export function modelQuery(request: Pick<HttpRequest, 'target' | 'headers'>): ModelQuery | undefined {
  const path = pathOf(request.target);
  const match = /^(\/v1beta|\/v1)?\/models(?:\/(.*))?$/.exec(path);
  if (match === null) return undefined;
  const [, version, rest = ''] = match;
  const id = rest.replace(/\/+$/, '');
  if (version === '/v1beta') return id.includes(':') ? undefined : { shape: gemini, id: idOf(id) };
  // Paths of Google's that name an action are calls.
  if (/:(generateContent|streamGenerateContent|countTokens)$/.test(id)) return undefined;
  if (request.headers.has('anthropic-version')) return { shape: anthropic, id: idOf(id) };
  const google = request.headers.has('x-goog-api-key') || /[?&]key=/.test(queryOf(request.target));
  return { shape: google ? gemini : openai, id: idOf(id) };
}

function idOf(text: string): string | undefined {
  if (text === '') return undefined;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function listed({ shape }: ModelQuery, ids: readonly string[], created: number): HttpResponse {
  return answer(shape.all(ids.map((id) => shape.one(id, created))));
}

export function single({ shape }: ModelQuery, id: string, created: number): HttpResponse {
  return answer(shape.one(id, created));
}

function answer(body: JsonObject): HttpResponse {
  const headers = Headers.from([['content-type', 'application/json']]);
  return { status: 200, headers, body: new BufferedBody(Buffer.from(JSON.stringify(body))) };
}
