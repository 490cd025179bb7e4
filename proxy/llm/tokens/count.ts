import type { JsonObject } from '../../exchange/attributes.ts';
import { badRequest } from '../failure.ts';
import type { RouteType } from '../route-type.ts';

/** Counts the tokens of a request here, without asking anybody. Throws an `LlmFailure` for models of unknown encoding. */
export async function countTokens(model: string, _body: JsonObject, _type: RouteType): Promise<number> {
  throw badRequest(`tokens of ${model} cannot be counted in this release`);
}
