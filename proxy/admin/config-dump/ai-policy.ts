import type { AiPolicy, Guard, PromptGuard, Rejection, ServiceRef } from '../../../src/config/ir/index.ts';

type Shown = Readonly<Record<string, unknown>>;
type ShowService = (service: ServiceRef) => Shown;

/** `ai` in the words of the configuration. */
export function shownAi({ routes, promptGuard, ...fields }: AiPolicy, service: ShowService): Shown {
  return {
    ...(routes === undefined ? {} : { routes: Object.fromEntries(routes) }),
    ...fields,
    ...(promptGuard === undefined ? {} : { promptGuard: shownGuards(promptGuard, service) }),
  };
}

function shownGuards({ streaming, request, response }: PromptGuard, service: ShowService): Shown {
  return {
    streaming: streaming ? 'Enabled' : 'Disabled',
    request: request.map(({ guard, rejection, scope }) => ({
      ...shownGuard(guard, service),
      rejection: shownRejection(rejection),
      scope,
    })),
    response: response.map(({ guard, rejection, scope }) => ({
      ...shownGuard(guard, service),
      rejection: shownRejection(rejection),
      scope,
    })),
  };
}

function shownGuard(guard: Guard, show: ShowService): Shown {
  if (guard.kind === 'regex') {
    const rules = guard.rules.map((rule) =>
      rule.kind === 'pattern' ? { pattern: rule.pattern } : { builtin: rule.builtin },
    );
    return { regex: { action: guard.action, rules } };
  }
  const { kind, service, ...settings } = guard;
  return { [kind]: { ...(kind === 'webhook' ? { target: show(service) } : show(service)), ...settings } };
}

function shownRejection({ status, body, headers }: Rejection): Shown {
  if (headers === undefined) return { status, body };
  const { add, set, remove } = headers;
  return { status, body, headers: { add: Object.fromEntries(add), set: Object.fromEntries(set), remove } };
}
