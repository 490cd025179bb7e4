import { TypeName } from '../value/value.ts';

/** Types have names that are values. */
export const typeNames: ReadonlyMap<string, TypeName> = new Map(
  [
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
  ].map((name) => [name, new TypeName(name)]),
);
