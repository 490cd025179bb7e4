import { decodeNumbers, type DumpNumbers } from './decode-dump-backend.ts';
import { asArray, asObject, asText, isObject, variantOf, type JsonObject } from './lenient.ts';

/** A model as one listener offers it. */
export interface DumpModel {
  readonly key: string;
  readonly name: string;
  readonly listener: string;
  /** `public` or `internal`; virtual ones are public. */
  readonly visibility: string;
  /** Name of the backend that serves it; undefined for a virtual one that only leads to other models. */
  readonly backend: string | undefined;
  /** How a virtual model chooses: `failover`, `weighted`, `conditional`; undefined for any other. */
  readonly routing: string | undefined;
  /** Names of the models that a virtual one leads to, in order. */
  readonly targets: readonly string[];
  /** Of a virtual model without a backend of its own: what became of the calls that it passed on. */
  readonly passedOn: DumpNumbers | undefined;
}

/** Reads an entry of `models`. */
export function decodeModel(value: unknown): DumpModel[] {
  if (!isObject(value)) return [];
  const kind = variantOf(value['kind']);
  const inner = asObject(kind?.value);
  const name = asText(value['name']) ?? asText(inner['name']);
  if (name === undefined) return [];
  return [
    {
      key: asText(value['key']) ?? name,
      name,
      listener: asText(value['listenerKey']) ?? '',
      visibility: asText(inner['visibility']) ?? 'public',
      ...(kind?.kind === 'virtual' ? virtual(inner) : concrete(inner)),
    },
  ];
}

type Served = Pick<DumpModel, 'backend' | 'routing' | 'targets' | 'passedOn'>;

function concrete(inner: JsonObject): Served {
  return { backend: backendName(inner['backend']), routing: undefined, targets: [], passedOn: undefined };
}

function virtual(inner: JsonObject): Served {
  const routing = variantOf(inner['routing']);
  const settings = asObject(routing?.value);
  const targets = Array.isArray(routing?.value) ? routing.value : asArray(settings['targets']);
  return {
    backend: backendName(settings['backend']),
    routing: routing?.kind ?? 'virtual',
    targets: targets.flatMap((target) => asText(asObject(target)['model']) ?? []),
    passedOn: isObject(inner['info']) ? decodeNumbers(inner['info']) : undefined,
  };
}

/** A key, as dumps write it, or the backend itself. */
function backendName(value: unknown): string | undefined {
  return asText(value) ?? asText(asObject(variantOf(value)?.value)['name']);
}
