const NUMBERED = /^gpt-(\d+)(?:\.(\d+))?(?=$|-)/;

/** The version in the name of a GPT model; undefined for other models, and for names without a number (`gpt-oss`). */
function gptVersion(model: string): { readonly major: number; readonly minor: number } | undefined {
  const match = NUMBERED.exec(model);
  return match === null ? undefined : { major: Number(match[1]), minor: Number(match[2] ?? 0) };
}

/** Models that are told where the prompt may be cached; the others find that out by themselves. */
export function takesBreakpoints(model: string): boolean {
  const version = gptVersion(model);
  return version !== undefined && (version.major > 5 || (version.major === 5 && version.minor >= 6));
}

/** Models that think, but take tools over chat completions only when told not to. */
export function refusesThoughtWithTools(model: string): boolean {
  const version = gptVersion(model);
  return version !== undefined && (version.major > 5 || (version.major === 5 && version.minor >= 3));
}
