import type { ExtAuthz, ExtAuthzGrpc } from '../../../src/config/ir/policy/ext-authz.ts';
import { isJsonObject, type JsonObject } from '../../exchange/attributes.ts';
import type { EvalContext, Expression } from '../../expression/contract.ts';
import { checkMethod } from '../../services/messages/check.ts';
import { tooDeep } from '../../services/messages/struct.ts';
import type { PolicyDeps } from '../contract.ts';
import { checkRequest, type CheckSettings } from './check-request.ts';
import { decisionOf } from './check-response.ts';
import { plainDenial, uncached } from './decision.ts';
import type { Ask } from './question.ts';

/** Where services of this protocol look for the claims of a verified token. */
const JWT_NAMESPACE = 'envoy.filters.http.jwt_authn';

/** Asks by the `Check` call. Throws a `GwError` for what can't be compiled. */
export function askByGrpc(spec: ExtAuthz, protocol: ExtAuthzGrpc, deps: PolicyDeps): Ask {
  const client = deps.services.open(spec.service, 'ExtAuthz');
  checkMethod.prepare();
  const metadata = metadataOf(protocol, deps);
  const settings: CheckSettings = {
    includeHeaders: spec.includeRequestHeaders,
    packAsBytes: spec.includeRequestBody?.packAsBytes ?? false,
    contextExtensions: protocol.context,
  };
  return async (question, call) => {
    const { context, request } = question;
    if (request === null) throw new TypeError('connections are not asked about by gRPC');
    const told = metadata(context);
    // A question that no service can read is not one that went unanswered: the client could make it so.
    if (tooDeep(told)) return { decision: uncached(plainDenial()), context };
    const message = checkRequest({ ...question, request }, settings, {
      metadata: told,
      startedAt: question.startedAt,
    });
    const response = await client.unary(checkMethod, message, { timeoutMs: null, ...call });
    return { decision: decisionOf(response), context };
  };
}

/** What was configured, or the claims of a verified token. */
function metadataOf(protocol: ExtAuthzGrpc, deps: PolicyDeps): (context: EvalContext) => Record<string, JsonObject> {
  if (protocol.metadata === undefined) return verifiedClaims;
  const expressions = Object.entries(protocol.metadata).map(([name, source]): [string, Expression] => [
    name,
    deps.expressions.compile(source, `extAuthz protocol.grpc.metadata.${name}`),
  ]);
  return (context) =>
    Object.fromEntries(
      expressions.flatMap(([name, expression]) => {
        const value = expression.json(context);
        return isJsonObject(value) ? [[name, value] as const] : [];
      }),
    );
}

function verifiedClaims({ attributes }: EvalContext): Record<string, JsonObject> {
  return attributes.jwt === null ? {} : { [JWT_NAMESPACE]: { jwt_payload: attributes.jwt.claims } };
}
