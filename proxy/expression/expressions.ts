import { randomUUID } from 'node:crypto';
import type { CompileOptions, Mention } from '../../src/cel/compile/compiler.ts';
import { CustomFunctions } from '../../src/cel/compile/custom.ts';
import { parseDefinitions } from '../../src/cel/custom/definitions.ts';
import { library } from '../../src/cel/library/library.ts';
import { isTaken } from '../../src/cel/names.ts';
import { Program } from '../../src/cel/program.ts';
import type { CredentialPlaces } from '../../src/config/credential-places.ts';
import { credentialHeaders } from '../../src/shared/credentials.ts';
import { Redaction } from '../telemetry/redaction.ts';
import type { EvalContext, Expressions, Reads } from './contract.ts';
import { CompiledExpression, type Report } from './expression.ts';
import { stateFor } from './state.ts';
import type { WorkloadFacts } from './variables/connection.ts';
import { gatewayHost, type EnvironmentFacts } from './variables/host.ts';
import { llmContentsOf } from './llm-contents.ts';
import { readsBody } from './variables/message.ts';

/** What expressions depend on besides the request. */
export interface ExpressionOptions {
  /** The text of `config.customFunctions`. */
  readonly customFunctions?: string | undefined;
  /** What `env` holds. */
  readonly env?: EnvironmentFacts | undefined;
  /** Lower-case names of headers that `redacted()` and traces hide, beyond the well-known ones. */
  readonly sensitiveHeaders?: readonly string[] | undefined;
  /** Who has which address. */
  readonly workloads?: readonly WorkloadFacts[] | undefined;
  /** Places of credentials that the configuration names. */
  readonly hidden?: CredentialPlaces | undefined;
}

/** What all expressions of one configuration are compiled with. Throws a `CelSyntaxError` when custom functions are wrong. */
export function environmentOf(options: ExpressionOptions): CompileOptions<EvalContext> {
  const sensitive = new Set([
    ...credentialHeaders,
    ...(options.sensitiveHeaders ?? []),
    ...(options.hidden?.headers ?? []),
  ]);
  const functions = library({ random: Math.random, uuid: randomUUID });
  const custom =
    options.customFunctions === undefined
      ? new CustomFunctions()
      : parseDefinitions(options.customFunctions, (name) => isTaken(name, functions));
  const host = gatewayHost(options, (name) => sensitive.has(name));
  return { host, functions, custom, bodies: new Map() };
}

/** Compiles expressions over requests. */
export function createExpressions(options: ExpressionOptions = {}): Expressions {
  const environment = environmentOf(options);
  const redaction = new Redaction(options.sensitiveHeaders ?? []).hide(
    options.hidden ?? { headers: [], parameters: [] },
  );
  const report: Report = (context, expression, message) => {
    const requestState = stateFor(context, expression.reads, { host: environment.host, redaction });
    context.trace?.emit({ type: 'cel', expr: expression.source, requestState, result: { error: message } }, 'warn');
  };
  return {
    compile: (source, where) => {
      const program = Program.compile(source, environment);
      return new CompiledExpression(program, { where, reads: readsOf(program.mentions), report });
    },
  };
}

/** What has to be collected before. */
function readsOf(mentions: readonly Mention[]): Reads {
  return {
    requestBody: mentions.some(({ variable, path }) => variable === 'request' && readsBody(path)),
    responseBody: mentions.some(({ variable, path }) => variable === 'response' && readsBody(path)),
    llm: llmContentsOf(mentions),
    variables: new Set(mentions.map(({ variable }) => variable)),
  };
}
