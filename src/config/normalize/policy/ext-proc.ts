import type { BackendPolicies } from '../../ir/policy.ts';
import type { ExtProc, ExtProcModes } from '../../ir/policy/ext-proc.ts';
import type { ExtProcSpec } from '../../schema/policy/ext-proc.ts';
import type { Context } from '../context.ts';
import type { Place } from '../simple-backend.ts';
import { policyService } from './policy-service.ts';

/** The namespace whose values open the call. */
const INITIAL_METADATA = 'gw.dev.grpc_initial_metadata';

/** `policies` are those of the connection, normalized. Undefined after a problem. */
export function extProc(
  context: Context,
  specs: { readonly spec: ExtProcSpec; readonly policies: BackendPolicies },
  place: Place,
): ExtProc | undefined {
  const { failureMode, metadataContext, requestAttributes, responseAttributes, processingOptions } = specs.spec;
  const service = policyService(context, specs, place);
  const { [INITIAL_METADATA]: initialMetadata = {}, ...namespaces } = metadataContext;
  for (const name of Object.keys(initialMetadata).filter((each) => !isMetadataName(each)))
    context.report(
      [...place.path, 'metadataContext', INITIAL_METADATA, name],
      'GW_CONFIG_VALUE',
      `${JSON.stringify(name)} cannot be the name of gRPC metadata`,
      { atKey: true },
    );
  return (
    service && {
      service,
      failureMode,
      initialMetadata,
      metadataContext: namespaces,
      requestAttributes,
      responseAttributes,
      modes: modesOf(processingOptions),
      allowModeOverride: processingOptions.allowModeOverride,
    }
  );
}

/** Texts only, and none of the names that belong to the protocol. */
function isMetadataName(name: string): boolean {
  return /^[0-9a-z_.-]+$/.test(name) && !/^(?:grpc-.*|te|content-type|host|connection)$|-bin$/.test(name);
}

function modesOf(options: ExtProcSpec['processingOptions']): ExtProcModes {
  const { requestBodyMode, responseBodyMode } = options;
  const streams = requestBodyMode === 'fullDuplexStreamed' || responseBodyMode === 'fullDuplexStreamed';
  return {
    requestHeaders: options.requestHeaderMode,
    responseHeaders: options.responseHeaderMode,
    requestBody: requestBodyMode,
    responseBody: responseBodyMode,
    requestTrailers: streams ? 'send' : options.requestTrailerMode,
    responseTrailers: streams ? 'send' : options.responseTrailerMode,
  };
}
