/** What traces call policies whose word in the configuration differs. */
const NAMES: Readonly<Record<string, string>> = {
  extAuthz: 'ext_auth',
  extProc: 'ext_proc',
  remoteRateLimit: 'remote_rate_limit',
  backendAuth: 'backend_auth',
  mcpAuthentication: 'mcp_authentication',
  networkAuthorization: 'network_authorization',
  networkExtAuthz: 'network_ext_auth',
};

/** The kind of a policy in traces, by its key in the configuration. */
export function policyName(key: string): string {
  return NAMES[key] ?? key;
}
