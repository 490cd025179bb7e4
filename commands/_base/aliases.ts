/** Further spellings of `proxy config <words>`: without `proxy`, and with the short forms of `config`. */
export function configAliases(...words: readonly string[]): { readonly shown: string[]; readonly hidden: string[] } {
  const [name = '', ...short] = words;
  const groups = ['proxy:config', 'proxy:cfg', 'proxy:c', 'config', 'cfg', 'c'];
  const every = groups.flatMap((group) => [name, ...short].map((word) => `${group}:${word}`));
  const shown = [`config:${name}`];
  return { shown, hidden: every.filter((id) => id !== `proxy:config:${name}` && !shown.includes(id)) };
}
