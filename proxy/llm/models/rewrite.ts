import type { JsonObject } from '../../exchange/attributes.ts';
import { BufferedBody } from '../../exchange/body.ts';
import type { HttpRequest } from '../../exchange/message.ts';
import { pathOf, queryOf } from '../../exchange/message.ts';
import { withPathModel } from '../path-model.ts';
import { withQueryModel } from '../realtime/watch.ts';
import { withFormModel } from './form.ts';
import type { Named, ReadRequest } from './requested.ts';

/** Writes another model where the request named one. What is known of the body afterwards. */
export function rewriteModel(request: HttpRequest, named: Named, model: string): ReadRequest | null | 'failed' {
  if (named.in === 'query') {
    request.target = withQueryModel(request.target, model);
    return null;
  }
  if (named.in === 'path') {
    request.target = `${withPathModel(pathOf(request.target), model)}${queryOf(request.target)}`;
    return null;
  }
  const { json } = named.read;
  if (json === null) return rewriteForm(request, named.read, model);
  const changed = { ...json, model };
  const bytes = written(changed);
  if (bytes === null) return 'failed';
  request.body = new BufferedBody(bytes);
  request.headers.remove('content-length');
  return { bytes, json: changed };
}

/** Null for what is nested too deeply. */
function written(body: JsonObject): Buffer | null {
  try {
    return Buffer.from(JSON.stringify(body));
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** Forms are not rendered for a service later, so the name that it knows is written here. */
export function rewriteForm(request: HttpRequest, { bytes }: ReadRequest, model: string): ReadRequest {
  const changed = withFormModel(bytes, request.headers.get('content-type') ?? '', model);
  request.body = new BufferedBody(changed);
  request.headers.remove('content-length');
  return { bytes: changed, json: null };
}
