import type { JsonObject } from '../../exchange/attributes.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import { pathOf } from '../../exchange/message.ts';
import type { Refusal } from '../../exchange/refusal.ts';
import { parseObject, text } from '../json.ts';
import { pathModel } from '../path-model.ts';
import { readBody, type ReadOptions } from '../read-body.ts';
import { queryModel } from '../realtime/watch.ts';
import { formModel } from './form.ts';
import { modelIsFile, noModel, noModelInForm, noModelInQuery, notForm, notJson, unreadable } from './refusals.ts';

/** A body that was read on the way to the model. */
export interface ReadRequest {
  readonly bytes: Uint8Array;
  /** Null for a form. */
  readonly json: JsonObject | null;
}

/** The model that a request names, and where. */
export type Requested =
  | { readonly kind: 'named'; readonly in: 'path'; readonly name: string }
  | { readonly kind: 'named'; readonly in: 'query'; readonly name: string }
  | { readonly kind: 'named'; readonly in: 'body'; readonly name: string; readonly read: ReadRequest }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

export type Named = Extract<Requested, { kind: 'named' }>;

/** Reads the body only where neither path nor query names the model. */
export async function requestedModel(exchange: Exchange, options: ReadOptions): Promise<Requested> {
  const { request } = exchange;
  const path = pathOf(request.target);
  const inPath = pathModel(path);
  if (inPath !== undefined) return { kind: 'named', in: 'path', name: inPath };
  if (path.endsWith('/realtime')) {
    const name = queryModel(request.target);
    return name === '' ? refused(noModelInQuery) : { kind: 'named', in: 'query', name };
  }
  const read = await readBody(exchange, options);
  if (read.kind === 'refused') return refused(unreadable(read.refusal, read.why));
  const { bytes } = read;
  const type = request.headers.get('content-type') ?? '';
  if (/^multipart\/form-data\s*(;|$)/i.test(type)) return inForm(bytes, type);
  const json = parseObject(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'));
  if (json === undefined) return refused(notJson);
  const name = text(json['model']);
  return name === undefined || name === ''
    ? refused(noModel)
    : { kind: 'named', in: 'body', name, read: { bytes, json } };
}

async function inForm(bytes: Uint8Array, type: string): Promise<Requested> {
  const found = await formModel(bytes, type);
  switch (found.kind) {
    case 'model':
      return { kind: 'named', in: 'body', name: found.model, read: { bytes, json: null } };
    case 'missing':
      return refused(noModelInForm);
    case 'file':
      return refused(modelIsFile);
    case 'invalid':
      return refused(notForm);
  }
}

function refused(refusal: Refusal): Requested {
  return { kind: 'refused', refusal };
}
