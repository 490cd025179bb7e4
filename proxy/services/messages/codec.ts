import type { Namespace, Type } from 'protobufjs';

import { lateLibrary } from '../../../src/shared/late-library.ts';
import type { RpcMethod } from '../contract.ts';

/** A field of a message, as the public definitions number it. `type` is a scalar or the name of another message here. */
export interface FieldDefinition {
  readonly id: number;
  readonly type: string;
  readonly rule?: 'repeated';
  /** Makes it a map with keys of that type. */
  readonly keyType?: string;
}

export type MessageDefinition =
  | {
      readonly fields: Readonly<Record<string, FieldDefinition>>;
      readonly oneofs?: Record<string, { oneof: string[] }>;
    }
  | { readonly values: Readonly<Record<string, number>> };

/** Messages and enumerations by name; only the fields that the gateway uses, the others are passed over when read. */
export type Definitions = Readonly<Record<string, MessageDefinition>>;

export interface MethodDefinition<I, O> {
  /** `/package.Service/Method` */
  readonly path: string;
  readonly request: string;
  readonly response: string;
  readonly definitions: Definitions;
  /** The form that the definitions describe. */
  readonly toWire: (message: I) => object;
  readonly fromWire: (message: WireMessage) => O;
}

/**
 * A decoded message: scalars have their defaults, lists and maps are there, messages that were not sent are null or
 * absent, enumerations are names (numbers when unknown), 64-bit integers are numbers.
 */
export interface WireMessage {
  readonly [field: string]: unknown;
}

/** A method whose codec, and the library behind it, is loaded when it is first used, or by `prepare`. */
export function rpcMethod<I, O>(definition: MethodDefinition<I, O>): RpcMethod<I, O> & { prepare(): void } {
  let codec: { request: Type; response: Type } | null = null;
  const load = (): { request: Type; response: Type } => (codec ??= compile(definition));
  return {
    path: definition.path,
    prepare: () => void load(),
    encode(message) {
      const { request } = load();
      return request.encode(request.fromObject(definition.toWire(message))).finish();
    },
    decode(bytes) {
      const { response } = load();
      return definition.fromWire(response.toObject(response.decode(bytes), CONVERSION));
    },
  };
}

const CONVERSION = { enums: String, longs: Number, defaults: true, arrays: true, objects: true, oneofs: true };

function compile<I, O>({ definitions, request, response }: MethodDefinition<I, O>): { request: Type; response: Type } {
  const protobuf = lateLibrary('protobufjs/light.js');
  const nested = Object.fromEntries(
    Object.entries(definitions).map(([name, definition]) => [name, { ...definition, edition: 'proto3' }]),
  );
  const root: Namespace = protobuf.Root.fromJSON({ nested }).resolveAll();
  return { request: root.lookupType(request), response: root.lookupType(response) };
}

export function field(id: number, type: string): FieldDefinition {
  return { id, type };
}

export function repeated(id: number, type: string): FieldDefinition {
  return { id, type, rule: 'repeated' };
}

/** A map from strings. */
export function mapOf(id: number, type: string): FieldDefinition {
  return { id, type, keyType: 'string' };
}
