/** The door to the engine: start a gateway, watch it, end it. */
export { Gateway, type GatewayAddresses, type GatewayOptions, type ReloadResult } from './supervisor/gateway.ts';
export type { ConfigProvider, ConfigWatch, ReadConfig } from './supervisor/config-provider.ts';
export { standaloneProvider, type StandaloneOptions } from './supervisor/standalone-provider.ts';
export type { BuildFacts } from './supervisor/version-facts.ts';
export type { LogSink } from './telemetry/log-writer.ts';
