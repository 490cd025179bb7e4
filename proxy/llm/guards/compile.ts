import type { ContentScope, Guard, PromptGuard, Rejection } from '../../../src/config/ir/llm.ts';
import { messageOf } from '../../../src/shared/errors.ts';
import type { JsonObject } from '../../exchange/attributes.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import type { Headers } from '../../exchange/headers.ts';
import type { PolicyContext } from '../../policy/contract.ts';
import type { ChatFormat } from '../formats.ts';
import type { GuardOutcome, Guards } from '../service.ts';
import { Accounting } from './accounting.ts';
import type { Check, Phase, Subject, Verdict } from './contract.ts';
import { GivenUp, GuardFailure } from './contract.ts';
import { regexCheck } from './regex/check.ts';
import { rejected, unguarded } from './rejection.ts';
import { azureContentSafety } from './services/azure.ts';
import { bedrockGuardrails } from './services/bedrock.ts';
import { serviceCheck } from './services/check.ts';
import type { GuardService } from './services/contract.ts';
import { modelArmor } from './services/model-armor.ts';
import { openAiModeration } from './services/openai-moderation.ts';
import { GuardedSession } from './realtime/session.ts';
import { GuardedStream } from './stream/guarded-stream.ts';
import { textFormats } from './text/formats.ts';
import { webhook } from './webhook/webhook.ts';

const noGuards: Guards = { request: null, response: null, stream: null, realtime: null };

/** The guards of one policy. Throws a `GwError` for what cannot be compiled. */
export function compileGuards(spec: PromptGuard | undefined, context: PolicyContext): Guards {
  if (spec === undefined) return noGuards;
  const accounting = new Accounting(context);
  const request = spec.request.map(({ guard, rejection, scope }) => compileCheck({ guard, rejection, scope }, context));
  const response = spec.response.map((each) => compileCheck(each, context));
  const guardRequest = request.length === 0 ? null : wholeGuard(request, { phase: 'request', accounting });
  const streamed = (exchange: Exchange, type: ChatFormat, headers: Headers, realtime = false): GuardedStream =>
    new GuardedStream({ checks: response, exchange, type, headers, accounting, realtime });
  const stream = response.length === 0 || !spec.streaming ? null : streamed;
  return {
    request: guardRequest,
    response: response.length === 0 ? null : wholeGuard(response, { phase: 'response', accounting }),
    stream,
    realtime:
      !spec.streaming || (guardRequest === null && stream === null)
        ? null
        : (exchange, limitBytes) =>
            new GuardedSession({
              exchange,
              limitBytes,
              request: guardRequest,
              stream: stream && ((headers) => stream(exchange, 'responses', headers, true)),
            }),
  };
}

interface GuardSettings {
  readonly guard: Guard;
  readonly rejection: Rejection;
  readonly scope: readonly ContentScope[];
}

function compileCheck({ guard, rejection, scope }: GuardSettings, context: PolicyContext): Check {
  if (guard.kind === 'regex') return regexCheck(guard, rejection, scope);
  const service = serviceOf(guard, context);
  const { clock, dryRun } = context.deps;
  const check = serviceCheck({ guard, service, rejection, scope, clock });
  return dryRun === undefined ? check : unasked(check, service);
}

/** One line for each kind of service. */
function serviceOf(guard: Exclude<Guard, { kind: 'regex' }>, context: PolicyContext): GuardService {
  switch (guard.kind) {
    case 'webhook':
      return webhook(guard, context);
    case 'openAIModeration':
      return openAiModeration(guard, context);
    case 'bedrockGuardrails':
      return bedrockGuardrails(guard, context);
    case 'googleModelArmor':
      return modelArmor(guard, context);
    case 'azureContentSafety':
      return azureContentSafety(guard, context);
  }
}

/** Where requests are only explained, nobody is called. */
function unasked(check: Check, { name }: GuardService): Check {
  return {
    ...check,
    judge({ exchange }) {
      exchange.trace?.emit({ type: 'policyEvent', kind: 'guardrail', details: { notAsked: name } }, 'warn');
      return { kind: 'unasked' };
    },
  };
}

interface Side {
  readonly phase: Phase;
  readonly accounting: Accounting;
}

/** In their order, each on what the one before left; the first rejection ends it. A promise only when somebody is asked. */
function wholeGuard(checks: readonly Check[], side: Side): NonNullable<Guards['request']> {
  return (exchange, body, type, headers) => run({ checks, side, exchange, type, headers }, body, 0);
}

interface Running {
  readonly checks: readonly Check[];
  readonly side: Side;
  readonly exchange: Exchange;
  readonly type: ChatFormat;
  readonly headers: Headers;
}

function run(running: Running, start: JsonObject, from: number): GuardOutcome | Promise<GuardOutcome> {
  let body = start;
  for (let i = from; i < running.checks.length; i++) {
    const check = running.checks[i];
    if (check === undefined) break;
    const startedAt = running.exchange.trace?.now() ?? null;
    const verdict = check.judge(subjectOf(running, body));
    if (verdict instanceof Promise) return runOn(running, { check, verdict, body, next: i + 1, startedAt });
    const settled = settle(running, { check, verdict, body, startedAt });
    if (settled.kind !== 'pass') return settled;
    ({ body } = settled);
  }
  return { kind: 'pass', body };
}

function subjectOf({ exchange, side, type, headers }: Running, body: JsonObject): Subject {
  return { exchange, phase: side.phase, format: textFormats[type], body, headers };
}

interface Waiting {
  readonly check: Check;
  readonly verdict: Promise<Verdict>;
  readonly body: JsonObject;
  readonly next: number;
  readonly startedAt: number | null;
}

async function runOn(running: Running, { check, verdict, body, next, startedAt }: Waiting): Promise<GuardOutcome> {
  let settled: GuardOutcome;
  try {
    settled = settle(running, { check, verdict: await verdict, body, startedAt });
  } catch (error) {
    if (error instanceof GivenUp) return { kind: 'fail', refusal: error.refusal };
    if (!(error instanceof GuardFailure)) throw error;
    settled = failed(running, { check, error, body, startedAt });
  }
  return settled.kind === 'pass' ? run(running, settled.body, next) : settled;
}

interface Judged {
  readonly check: Check;
  readonly body: JsonObject;
  readonly startedAt: number | null;
}

function settle(
  { exchange, side: { phase, accounting } }: Running,
  { check, verdict, body, startedAt }: Judged & { readonly verdict: Verdict },
): GuardOutcome {
  const { kind, rejection, audit } = check;
  const told = { exchange, phase, kind, audit, startedAt };
  switch (verdict.kind) {
    case 'unasked':
      return { kind: 'pass', body };
    case 'pass':
      accounting.record('Allow', '', told);
      return { kind: 'pass', body };
    case 'mask':
      accounting.record('Mask', verdict.what, told);
      return { kind: 'pass', body: audit ? body : verdict.body };
    case 'reject':
      accounting.record('Reject', verdict.what, told);
      return audit ? { kind: 'pass', body } : { kind: 'fail', refusal: rejected({ kind, rejection, phase }, verdict) };
  }
}

function failed(
  { exchange, side: { phase, accounting } }: Running,
  { check, error, body, startedAt }: Judged & { readonly error: GuardFailure },
): GuardOutcome {
  const { kind, audit, failOpen } = check;
  const told = { exchange, phase, kind, audit, startedAt };
  if (failOpen) {
    accounting.record('FailOpen', messageOf(error), told);
    return { kind: 'pass', body };
  }
  accounting.failed(messageOf(error), told);
  return { kind: 'fail', refusal: unguarded(phase) };
}
