import { isMap } from '../schema/walk.ts';

/** The backend that the section `llm` adds. */
export const LLM_ROUTER = 'llm:router';

/** What the file declares by name, read from the raw value: an entry that is broken otherwise still counts as declared. */
export interface Names {
  readonly backends: ReadonlySet<string>;
  readonly routeGroups: ReadonlySet<string>;
  readonly gateways: ReadonlySet<string>;
  /** The file has the section `llm`. */
  readonly llm: boolean;
  /** `namespace/hostname` to ports; undefined ports when they cannot be read. */
  readonly services: ReadonlyMap<string, ReadonlySet<string> | undefined>;
}

/** Reads the declared names of a file. */
export function namesOf(value: unknown): Names {
  const raw = isMap(value) ? value : {};
  return {
    backends: new Set([
      ...entries(raw['backends']).flatMap(({ name }) => text(name).map(plainName)),
      ...(isMap(raw['llm']) ? [LLM_ROUTER] : []),
    ]),
    routeGroups: new Set(entries(raw['routeGroups']).flatMap(({ name }) => text(name))),
    gateways: new Set(isMap(raw['gateways']) ? Object.keys(raw['gateways']) : []),
    llm: isMap(raw['llm']),
    services: new Map(
      entries(raw['services']).map((service) => [
        `${String(service['namespace'])}/${String(service['hostname']).toLowerCase()}`,
        isMap(service['ports']) ? new Set(Object.keys(service['ports'])) : undefined,
      ]),
    ),
  };
}

/** `name` and `/name` mean the same backend. */
export function plainName(name: string): string {
  return name.startsWith('/') ? name.slice(1) : name;
}

function entries(value: unknown): Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.filter(isMap) : [];
}

function text(value: unknown): string[] {
  return typeof value === 'string' ? [value] : [];
}
