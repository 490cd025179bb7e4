import type { JsonObject, JsonValue } from '../../../exchange/attributes.ts';
import { compact, list, object, objects, text } from '../../json.ts';
import type { Notes } from '../contract.ts';
import { geminiSchema } from '../google/schema.ts';

/** Undefined when there are none. */
export function geminiTools(value: JsonValue | undefined, notes: Notes): readonly JsonObject[] | undefined {
  const functionDeclarations = objects(value).flatMap((tool, index) => declaration(tool, `tools[${index}]`, notes));
  return functionDeclarations.length === 0 ? undefined : [{ functionDeclarations }];
}

function declaration(tool: JsonObject, path: string, notes: Notes): readonly JsonObject[] {
  const fn = object(tool['function']);
  if (tool['type'] !== 'function' || fn === undefined) {
    notes.dropped(path, String(tool['type']));
    return [];
  }
  if (fn['strict'] !== undefined) notes.dropped(`${path}.function.strict`);
  const { parameters } = fn;
  return [
    compact({
      name: fn['name'],
      description: fn['description'],
      parameters:
        parameters === undefined || parameters === null
          ? undefined
          : geminiSchema(parameters, `${path}.function.parameters`, notes),
    }),
  ];
}

/** Undefined when nothing is said about it. */
export function toolConfig(choice: JsonValue | undefined, notes: Notes): JsonObject | undefined {
  if (choice === undefined || choice === null) return undefined;
  return { functionCallingConfig: callingConfig(choice, notes) };
}

function callingConfig(choice: JsonValue, notes: Notes): JsonObject {
  const named = object(choice);
  if (named === undefined) return { mode: choice === 'none' ? 'NONE' : choice === 'required' ? 'ANY' : 'AUTO' };
  const allowed = object(named['allowed_tools']);
  if (allowed === undefined) return { mode: 'ANY', allowedFunctionNames: names([named]) };
  if (allowed['mode'] === 'required') return { mode: 'ANY', allowedFunctionNames: names(list(allowed['tools']) ?? []) };
  notes.dropped('tool_choice.allowed_tools.tools', 'only together with the mode "required"');
  return { mode: 'AUTO' };
}

function names(tools: readonly JsonValue[]): readonly string[] {
  return objects(tools).flatMap((tool) => text((object(tool['function']) ?? object(tool['custom']))?.['name']) ?? []);
}
