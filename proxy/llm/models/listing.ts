import type { Attributes, JsonObject } from '../../exchange/attributes.ts';
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

const vertex: Shape = {
  one: (id) => ({ name: `publishers/google/models/${id}`, versionId: 'default' }),
  all: (publisherModels) => ({ publisherModels }),
};

const cohere: Shape = {
  one: (id) => ({ name: id }),
  all: (models) => ({ models }),
};

/** Where clients of the vendors look for models: the base of their API, the word, and the name of one. */
const MODELS =
  /^(\/v1beta\d*\/publishers\/\w+|\/v1\/publishers\/\w+|\/v1beta\/openai|\/openai\/v1|\/openai|\/v1beta|\/v1alpha|\/v1)?\/models(?:\/(.*))?$/;
const ACTION = /:(?:generateContent|streamGenerateContent|countTokens|rawPredict|streamRawPredict)$/;

/** Undefined for a request about something else than models. */
export function modelQuery({ request, attributes }: Asking): ModelQuery | undefined {
  const match = MODELS.exec(pathOf(request.target));
  if (match === null) return undefined;
  const [, base = '', rest = ''] = match;
  const id = rest.replace(/\/+$/, '');
  // Paths of Google's that name an action are calls.
  if (/^\/v1(?:beta|alpha)$/.test(base) ? id.includes(':') : ACTION.test(id)) return undefined;
  return { shape: shapeFor(base, { request, attributes }), id: idOf(id) };
}

/** What knows of a request for models: the key is gone once it was accepted. */
interface Asking {
  readonly request: Pick<HttpRequest, 'target' | 'headers'>;
  readonly attributes: Pick<Attributes, 'apiKey'>;
}

function shapeFor(base: string, { request: { target, headers }, attributes: { apiKey } }: Asking): Shape {
  if (base.includes('/publishers/')) return vertex;
  if (base === '/v1beta' || base === '/v1alpha') return gemini;
  if (base.includes('/openai')) return openai;
  if (headers.has('anthropic-version')) return anthropic;
  // Cohere's path, key and headers are OpenAI's: its library says who it is.
  if (/^cohere/i.test(headers.get('x-fern-sdk-name') ?? headers.get('user-agent') ?? '')) return cohere;
  const keyed = headers.has('x-goog-api-key') || /[?&]key=/.test(queryOf(target));
  return keyed || apiKey?.place === 'x-goog-api-key' || apiKey?.place === 'key' ? gemini : openai;
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
