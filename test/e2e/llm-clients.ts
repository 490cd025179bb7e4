/** Clients of each format that a language model is asked in, as bytes: what they send, and what an error is to them. */
import type { JsonObject } from '../../proxy/exchange/attributes.ts';

export interface LlmClient {
  readonly format: string;
  readonly path: string;
  /** A request that every service can take; `more` are fields beside it. */
  body(more?: JsonObject): JsonObject;
  /** What the envelope of an error says; undefined for what is none in this format. */
  error(body: unknown): ClientError | undefined;
}

export interface ClientError {
  readonly message: string;
  /** The kind of error, in the word of the format. */
  readonly type: string;
}

const MODEL = 'm';
const said = 'What is the weather?';

export const completions: LlmClient = {
  format: 'completions',
  path: '/v1/chat/completions',
  body: (more) => ({ model: MODEL, messages: [{ role: 'user', content: said }], ...more }),
  error: openaiError,
};

export const messages: LlmClient = {
  format: 'messages',
  path: '/v1/messages',
  body: (more) => ({ model: MODEL, max_tokens: 50, messages: [{ role: 'user', content: said }], ...more }),
  error: (body) => {
    const { type, error } = fields(body);
    return type === 'error' ? told(fields(error)['message'], fields(error)['type']) : undefined;
  },
};

export const responses: LlmClient = {
  format: 'responses',
  path: '/v1/responses',
  body: (more) => ({ model: MODEL, input: said, ...more }),
  error: openaiError,
};

export const generateContent: LlmClient = {
  format: 'generateContent',
  path: `/v1beta/models/${MODEL}:generateContent`,
  body: (more) => ({ contents: [{ role: 'user', parts: [{ text: said }] }], ...more }),
  error: (body) => {
    const { code, message, status } = fields(fields(body)['error']);
    return typeof code === 'number' ? told(message, status) : undefined;
  },
};

export const embeddings: LlmClient = {
  format: 'embeddings',
  path: '/v1/embeddings',
  body: (more) => ({ model: MODEL, input: said, ...more }),
  error: openaiError,
};

export const clients: readonly LlmClient[] = [completions, messages, responses, generateContent, embeddings];

function openaiError(body: unknown): ClientError | undefined {
  const { message, type } = fields(fields(body)['error']);
  return told(message, type);
}

function told(message: unknown, type: unknown): ClientError | undefined {
  return typeof message === 'string' && typeof type === 'string' ? { message, type } : undefined;
}

function fields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

/** The error in the text of an answer; undefined for what the client would not understand. */
export function errorIn(client: LlmClient, text: string): ClientError | undefined {
  try {
    return client.error(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** What a client is told, but for what is made anew each time. */
export function unnamed(text: string): string {
  return text
    .replaceAll(/"(?:created|created_at|completed_at)":\d+/g, '"created":0')
    .replaceAll(/"(?:msg|resp|chatcmpl|rs|fc|call|item)[_-][0-9A-Za-z-]{12,}"/g, '"id"');
}

/** The last event that says something. */
export function lastError(client: LlmClient, text: string): string | undefined {
  const events = text.split('\n\n').filter((event) => event.includes('data: '));
  const data = events.at(-1)?.replace(/^[^]*?data: /, '') ?? '';
  if (client !== responses) return errorIn(client, data)?.message;
  const { type, message, response } = JSON.parse(data) as {
    type?: string;
    message?: string;
    response?: { error?: { message: string } };
  };
  return type === 'error' ? message : response?.error?.message;
}
