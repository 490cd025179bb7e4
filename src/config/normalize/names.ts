import { isMap } from '../schema/walk.ts';

/** The backend that the section `llm` adds. */
export const LLM_ROUTER = 'llm:router';

/** The backend that the section `mcp` adds. */
export const MCP_BACKEND = 'mcp';

/** What the file declares by name, read from the raw value: an entry that is broken otherwise still counts as declared. */
export interface Names {
  readonly backends: ReadonlySet<string>;
  readonly routeGroups: ReadonlySet<string>;
  readonly gateways: ReadonlySet<string>;
  /** The key that says which kind each of them is, such as `host`; the section for those that sections add. */
  readonly backendKinds: ReadonlyMap<string, string>;
  /** Names of the backends that sections add, with the section. */
  readonly sections: ReadonlyMap<string, 'llm' | 'mcp'>;
  /** `namespace/hostname` to ports; undefined ports when they cannot be read. */
  readonly services: ReadonlyMap<string, ReadonlySet<string> | undefined>;
}

/** Reads the declared names of a file. */
export function namesOf(value: unknown): Names {
  const raw = isMap(value) ? value : {};
  const sections = new Map<string, 'llm' | 'mcp'>();
  if (isMap(raw['llm'])) sections.set(LLM_ROUTER, 'llm');
  if (isMap(raw['mcp'])) sections.set(MCP_BACKEND, 'mcp');
  return {
    backends: new Set([
      ...entries(raw['backends']).flatMap(({ name }) => text(name).map(plainName)),
      ...sections.keys(),
    ]),
    backendKinds: new Map([...entries(raw['backends']).flatMap(kindsOf), ...sections]),
    routeGroups: new Set(entries(raw['routeGroups']).flatMap(({ name }) => text(name))),
    gateways: new Set(isMap(raw['gateways']) ? Object.keys(raw['gateways']) : []),
    sections,
    services: new Map(
      entries(raw['services']).map((service) => [
        `${String(service['namespace'])}/${String(service['hostname']).toLowerCase()}`,
        isMap(service['ports']) ? new Set(Object.keys(service['ports'])) : undefined,
      ]),
    ),
  };
}

function kindsOf(entry: Readonly<Record<string, unknown>>): (readonly [string, string])[] {
  const kind = Object.keys(entry).find((key) => key !== 'name' && key !== 'policies' && (entry[key] ?? null) !== null);
  return kind === undefined ? [] : text(entry['name']).map((name) => [plainName(name), kind] as const);
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
