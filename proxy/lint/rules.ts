import type { LintRule } from './finding.ts';
import { adminOpen } from './rules/admin-open.ts';
import { closedRegistration } from './rules/closed-registration.ts';
import { commandWithArguments } from './rules/command-with-arguments.ts';
import { corsWildcard } from './rules/cors-wildcard.ts';
import { disarmedDeny } from './rules/disarmed-deny.ts';
import { idleMcpPolicy } from './rules/idle-mcp-policy.ts';
import { idleTokenLimit } from './rules/idle-token-limit.ts';
import { neverTrue } from './rules/never-true.ts';
import { openDoor } from './rules/open-door.ts';
import { openProxy } from './rules/open-proxy.ts';
import { plainSecret } from './rules/plain-secret.ts';
import { prefixedName } from './rules/prefixed-name.ts';
import { shadowedRoute } from './rules/shadowed-route.ts';
import { unattachedPolicy } from './rules/unattached-policy.ts';
import { unreachableMetadata } from './rules/unreachable-metadata.ts';
import { unguardedStream } from './rules/unguarded-stream.ts';
import { unknownName } from './rules/unknown-name.ts';
import { unsetVariable } from './rules/unset-variable.ts';
import { unusedBackend } from './rules/unused-backend.ts';
import { unverifiedTls } from './rules/unverified-tls.ts';

/** Every rule, in the order of docs/lint.md. */
export const lintRules: readonly LintRule[] = [
  unknownName,
  unsetVariable,
  disarmedDeny,
  neverTrue,
  openDoor,
  openProxy,
  adminOpen,
  plainSecret,
  corsWildcard,
  unverifiedTls,
  shadowedRoute,
  unattachedPolicy,
  idleTokenLimit,
  idleMcpPolicy,
  prefixedName,
  commandWithArguments,
  unreachableMetadata,
  closedRegistration,
  unguardedStream,
  unusedBackend,
];
