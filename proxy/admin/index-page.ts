import type { Endpoint } from './endpoint.ts';

/** `/`: every endpoint with one line about it. */
export function indexEndpoint(endpoints: readonly Endpoint[], version: string): Endpoint {
  return {
    path: '/',
    methods: ['GET'],
    summary: 'This page',
    handle: () => ({
      kind: 'whole',
      status: 200,
      headers: {
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
      },
      body: page(endpoints, version),
    }),
  };
}

function page(endpoints: readonly Endpoint[], version: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Gateway admin</title>
<style>
  :root { color-scheme: light dark; --ink: #1b1f24; --soft: #59636e; --line: #d8dee4; --ground: #fff; --mark: #0a5fb4; --tag: #eef2f6; }
  @media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9aa5b1; --line: #30363d; --ground: #0f1318; --mark: #6cb2ff; --tag: #1c232b; } }
  * { box-sizing: border-box; }
  body { margin: 0 auto; max-width: 56rem; padding: 3rem 1.25rem; background: var(--ground); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
  h1 { margin: 0; font-size: 1.5rem; letter-spacing: -.01em; }
  p { margin: .25rem 0 2rem; color: var(--soft); }
  ul { list-style: none; margin: 0; padding: 0; border-top: 1px solid var(--line); }
  li { display: grid; grid-template-columns: 7rem minmax(12rem, 16rem) 1fr; gap: .25rem 1rem; padding: .75rem 0; border-bottom: 1px solid var(--line); }
  @media (max-width: 40rem) { li { grid-template-columns: 1fr; } }
  a, code { font: 14px/1.6 ui-monospace, monospace; }
  a { color: var(--mark); text-decoration: none; }
  a:hover, a:focus-visible { text-decoration: underline; }
  b { display: inline-block; margin-right: .25rem; padding: 0 .4rem; border-radius: .25rem; background: var(--tag); color: var(--soft); font: 600 12px/1.6 ui-monospace, monospace; }
  small { display: block; color: var(--soft); }
</style>
</head>
<body>
<h1>Gateway admin</h1>
<p>Version ${escapeHtml(version)}. This interface has no authentication: keep it on a loopback address.</p>
<ul>
${endpoints.map(row).join('\n')}
</ul>
</body>
</html>
`;
}

function row(endpoint: Endpoint): string {
  const methods = endpoint.methods.map((method) => `<b>${method}</b>`).join('');
  const path = escapeHtml(endpoint.path);
  // What costs or changes something is not one click away.
  const link =
    endpoint.guarded?.includes('GET') === true || !endpoint.methods.includes('GET')
      ? `<code>${path}</code>`
      : `<a href="${path}">${path}</a>`;
  const parameters = endpoint.parameters === undefined ? '' : `<small>${escapeHtml(endpoint.parameters)}</small>`;
  return `<li><span>${methods}</span><span>${link}</span><span>${escapeHtml(endpoint.summary)}${parameters}</span></li>`;
}

function escapeHtml(value: string): string {
  return value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
