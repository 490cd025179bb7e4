import { z } from 'zod';
import type { BindSpec } from '../schema/bind.ts';
import type { FrontendSpec } from '../schema/frontend.ts';
import type { GatewaySpec } from '../schema/gateway.ts';
import type { LlmSpec } from '../schema/llm.ts';
import type { McpSpec } from '../schema/mcp.ts';
import type { ProcessSpec } from '../schema/process.ts';
import { rootShape, type RootSpec } from '../schema/root.ts';
import type { AttachedRouteSpec, AttachedTcpRouteSpec, RouteGroupSpec } from '../schema/route.ts';
import type { NamedBackendSpec } from '../schema/backend.ts';
import type { ServiceSpec } from '../schema/service.ts';
import type { TargetedPolicySpec } from '../schema/targeted-policy.ts';
import type { WorkloadSpec } from '../schema/workload.ts';
import { isMap } from '../schema/walk.ts';

/** A list whose broken entries are holes, so that positions stay what they are in the file. */
type Holed<T> = readonly (T | undefined)[];

/** The decoded file. Broken parts, whose problems are told already, are missing. */
export interface Specs {
  readonly config: ProcessSpec | undefined;
  readonly gateways: ReadonlyMap<string, GatewaySpec | undefined>;
  readonly routes: Holed<AttachedRouteSpec>;
  readonly tcpRoutes: Holed<AttachedTcpRouteSpec>;
  readonly binds: Holed<BindSpec>;
  readonly routeGroups: Holed<RouteGroupSpec>;
  readonly backends: Holed<NamedBackendSpec>;
  readonly policies: Holed<TargetedPolicySpec>;
  readonly frontendPolicies: FrontendSpec | undefined;
  readonly llm: LlmSpec | undefined;
  readonly mcp: McpSpec | undefined;
  readonly services: Holed<ServiceSpec>;
  readonly workloads: Holed<WorkloadSpec>;
}

/** The parts of a file that decoded whole. */
export function specsOf(root: RootSpec): Specs {
  return {
    config: root.config,
    gateways: new Map(Object.entries(root.gateways ?? {})),
    routes: root.routes ?? [],
    tcpRoutes: root.tcpRoutes ?? [],
    binds: root.binds ?? [],
    routeGroups: root.routeGroups ?? [],
    backends: root.backends ?? [],
    policies: root.policies ?? [],
    frontendPolicies: root.frontendPolicies,
    llm: root.llm,
    mcp: root.mcp,
    services: root.services ?? [],
    workloads: root.workloads ?? [],
  };
}

/** The parts that decode on their own, of a file that does not as a whole: they are checked further, so that all problems are told at once. */
export function survivingSpecs(value: unknown): Specs {
  const raw = isMap(value) ? value : {};
  return {
    config: part(rootShape.config, raw['config']),
    gateways: new Map(
      isMap(raw['gateways'])
        ? Object.entries(raw['gateways']).map(([name, item]) => [name, part(elementOfRecord(rootShape.gateways), item)])
        : [],
    ),
    routes: list(rootShape.routes, raw['routes']),
    tcpRoutes: list(rootShape.tcpRoutes, raw['tcpRoutes']),
    binds: list(rootShape.binds, raw['binds']),
    routeGroups: list(rootShape.routeGroups, raw['routeGroups']),
    backends: list(rootShape.backends, raw['backends']),
    policies: list(rootShape.policies, raw['policies']),
    frontendPolicies: part(rootShape.frontendPolicies, raw['frontendPolicies']),
    llm: part(rootShape.llm, raw['llm']),
    mcp: part(rootShape.mcp, raw['mcp']),
    services: list(rootShape.services, raw['services']),
    workloads: list(rootShape.workloads, raw['workloads']),
  };
}

function list<T extends z.ZodType>(schema: z.ZodOptional<z.ZodArray<T>>, value: unknown): Holed<z.output<T>> {
  return Array.isArray(value) ? value.map((item) => part(schema.def.innerType.def.element, item)) : [];
}

function elementOfRecord<T extends z.ZodType>(schema: z.ZodOptional<z.ZodRecord<z.core.$ZodRecordKey, T>>): T {
  return schema.def.innerType.def.valueType;
}

function part<T extends z.ZodType>(schema: T, value: unknown): z.output<T> | undefined {
  const result = schema.safeParse(value);
  return result.success ? result.data : undefined;
}
