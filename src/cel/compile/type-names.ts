import { TypeName } from '../value/value.ts';

/** Types have names that are values; some have a short one as well. */
export const typeNames: ReadonlyMap<string, TypeName> = new Map([
  ...[
    'bool',
    'bytes',
    'double',
    'int',
    'uint',
    'string',
    'list',
    'map',
    'null_type',
    'type',
    'optional_type',
    'google.protobuf.Duration',
    'google.protobuf.Timestamp',
    'net.IP',
    'net.CIDR',
  ].map((name): [string, TypeName] => [name, new TypeName(name)]),
  ['duration', new TypeName('google.protobuf.Duration')],
  ['timestamp', new TypeName('google.protobuf.Timestamp')],
]);
