import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

import protobuf from 'protobufjs';

const require = createRequire(import.meta.url);

const DEPS = join(dirname(require.resolve('@grpc/grpc-js-xds/package.json')), 'deps');
const FOLDERS = [
  ...['envoy-api', 'googleapis', 'protoc-gen-validate', 'xds'].map((name) => join(DEPS, name)),
  dirname(require.resolve('protobufjs/package.json')),
];

let loaded: protobuf.Root | null = null;

/**
 * The public definitions of the services that policies call, as their own library reads them: what the gateway's codecs
 * are held against. The copy is older than some fields of external processing and rate limits; those are added here.
 */
function envoyApi(): protobuf.Root {
  if (loaded !== null) return loaded;
  const root = new protobuf.Root();
  root.resolvePath = (_origin, target) => {
    const folder = FOLDERS.find((each) => existsSync(join(each, target)));
    return folder === undefined ? target : join(folder, target);
  };
  root.loadSync([
    'envoy/service/ext_proc/v3/external_processor.proto',
    'envoy/service/auth/v3/external_auth.proto',
    'envoy/service/ratelimit/v3/rls.proto',
  ]);
  addNewerFields(root);
  loaded = root;
  return root;
}

function addNewerFields(root: protobuf.Root): void {
  const processing = 'envoy.service.ext_proc.v3';
  const modes = 'envoy.extensions.filters.http.ext_proc.v3.ProcessingMode.BodySendMode';
  const types = root.lookup(processing);
  if (!(types instanceof protobuf.Namespace)) throw new TypeError(`no namespace ${processing}`);
  root.lookupEnum(modes).add('FULL_DUPLEX_STREAMED', 4);
  types.add(
    new protobuf.Type('StreamedBodyResponse')
      .add(new protobuf.Field('body', 1, 'bytes'))
      .add(new protobuf.Field('endOfStream', 2, 'bool')),
  );
  types.add(
    new protobuf.Type('ProtocolConfiguration')
      .add(new protobuf.Field('requestBodyMode', 1, modes))
      .add(new protobuf.Field('responseBodyMode', 2, modes)),
  );
  root
    .lookupType(`${processing}.ProcessingRequest`)
    .add(new protobuf.Field('protocolConfig', 11, `${processing}.ProtocolConfiguration`));
  const streamed = new protobuf.Field('streamedResponse', 3, `${processing}.StreamedBodyResponse`);
  root.lookupType(`${processing}.BodyMutation`).oneofs['mutation']?.add(streamed);
  root
    .lookupType('envoy.extensions.common.ratelimit.v3.RateLimitDescriptor')
    .add(new protobuf.Field('hitsAddend', 3, 'google.protobuf.UInt64Value'));
}

/** A message as JSON-like data, names in camel case, enumerations and 64-bit integers readable, defaults left out. */
export function readMessage(type: string, bytes: Uint8Array): Record<string, unknown> {
  const found = envoyApi().lookupType(type);
  return found.toObject(found.decode(bytes), { enums: String, longs: Number });
}

export function writeMessage(type: string, message: object): Buffer {
  const found = envoyApi().lookupType(type);
  return Buffer.from(found.encode(found.fromObject(message)).finish());
}
