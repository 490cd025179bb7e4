import { type Definitions, field, repeated } from './codec.ts';

/** `envoy.config.core.v3.HeaderValue`: one of the two values is set, `rawValue` where both are. */
export interface HeaderValue {
  readonly key: string;
  readonly value?: string;
  readonly rawValue?: Uint8Array;
}

export type AppendAction =
  | 'APPEND_IF_EXISTS_OR_ADD'
  | 'ADD_IF_ABSENT'
  | 'OVERWRITE_IF_EXISTS_OR_ADD'
  | 'OVERWRITE_IF_EXISTS';

/** `envoy.config.core.v3.HeaderValueOption` */
export interface HeaderValueOption {
  readonly header?: HeaderValue | null;
  /** Deprecated; only looked at when there is no action. */
  readonly append?: { readonly value?: boolean } | null;
  /** A number when it is unknown. */
  readonly appendAction?: AppendAction | number;
  readonly keepEmptyValue?: boolean;
}

export const headerDefinitions: Definitions = {
  BoolValue: { fields: { value: field(1, 'bool') } },
  HeaderValue: { fields: { key: field(1, 'string'), value: field(2, 'string'), rawValue: field(3, 'bytes') } },
  HeaderMap: { fields: { headers: repeated(1, 'HeaderValue') } },
  HeaderAppendAction: {
    values: { APPEND_IF_EXISTS_OR_ADD: 0, ADD_IF_ABSENT: 1, OVERWRITE_IF_EXISTS_OR_ADD: 2, OVERWRITE_IF_EXISTS: 3 },
  },
  HeaderValueOption: {
    fields: {
      header: field(1, 'HeaderValue'),
      append: field(2, 'BoolValue'),
      appendAction: field(3, 'HeaderAppendAction'),
      keepEmptyValue: field(4, 'bool'),
    },
  },
  /** The status of HTTP, as a number. */
  HttpStatus: { fields: { code: field(1, 'int32') } },
};
