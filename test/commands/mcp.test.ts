import { once } from 'node:events';
import { createServer, request as httpRequest, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { startGateway } from '../e2e/gateway.ts';
import { IdentityProvider } from '../e2e/identity-provider.ts';
import { startEverything, type RunningServer } from '../mcp/everything.ts';
import { signer } from '../proxy/jwt/tokens.ts';
import { gwctl } from './gwctl.ts';

let server: RunningServer;
beforeAll(async () => {
  server = await startEverything();
});
afterAll(() => server.close());

function mcp(command: string, ...words: string[]) {
  return gwctl(['mcp', command, '--url', server.url, ...words]);
}

describe('mcp tools', () => {
  test('lists tools with what they need', async () => {
    const { code, stdout } = await mcp('tools');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^NAME +ARGUMENTS +DESCRIPTION\n/);
    expect(stdout).toMatch(/^echo +message +Echoes back the input string$/m);
    expect(stdout).toMatch(/^get-annotated-message +messageType \[includeImage\] /m);
  });

  test('-o json has their schemas, -o name their names alone', async () => {
    const tools = JSON.parse((await mcp('tools', '-o', 'json')).stdout) as { name: string; inputSchema: object }[];
    expect(tools.find(({ name }) => name === 'get-sum')?.inputSchema).toMatchObject({ required: ['a', 'b'] });
    expect((await mcp('tools', '-o', 'name')).stdout).toBe(tools.map(({ name }) => `${name}\n`).join(''));
  });

  test('over the older transport, too', async () => {
    const older = await startEverything('sse');
    try {
      const { code, stdout } = await gwctl(['mcp', 'tools', '--url', older.url, '--transport', 'sse', '-o', 'name']);
      expect([code, stdout.includes('get-sum\n')]).toEqual([0, true]);
    } finally {
      await older.close();
    }
  });
});

describe('an answer that is none', () => {
  const said = (status: number, reason: string, body: string): RequestListener => {
    return (request, response) => {
      request.resume();
      response.writeHead(status, { 'x-gw-reason': reason }).end(body);
    };
  };

  test.each([
    {
      listener: said(
        503,
        'UpstreamFailure',
        '{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"notes: refused"}}',
      ),
      path: '/mcp',
      told: ['/mcp answered 503: notes: refused\n', 'gwctl proxy config mcp --local'],
    },
    {
      listener: said(404, 'NotFound', 'route not found'),
      path: '/',
      told: ['/ answered 404: route not found\n', '/mcp'],
    },
    { listener: said(502, 'x', '<html>'), path: '/mcp', told: ['/mcp answered 502', 'gwctl trace'] },
  ])('is told in the words of whoever sent it: $told', async ({ listener, path, told }) => {
    const gateway = createServer(listener).listen(0, '127.0.0.1');
    await once(gateway, 'listening');
    try {
      const { port } = gateway.address() as AddressInfo;
      for (const protocol of ['auto', 'legacy']) {
        const url = `http://127.0.0.1:${port}${path}`;
        const { code, stderr } = await gwctl(['mcp', 'tools', '--url', url, '--protocol', protocol]);
        expect(code).toBe(1);
        for (const each of told) expect(stderr).toContain(each);
        expect(stderr).not.toContain('Error POSTing');
      }
    } finally {
      gateway.close();
    }
  });
});

describe('mcp call', () => {
  test('reads arguments as the tool says, and prints what it answers', async () => {
    const { code, stdout } = await mcp('call', 'get-sum', 'a=1', 'b=2.5');
    expect([code, stdout]).toEqual([0, 'The sum of 1 and 2.5 is 3.5.\n']);
  });

  test('takes arguments as JSON, from stdin, and word by word as JSON', async () => {
    const input = JSON.stringify({ a: 1, b: 1 });
    const { stdout } = await gwctl(['mcp', 'call', 'get-sum', '--url', server.url, '--args', '-'], { input });
    expect(stdout).toBe('The sum of 1 and 1 is 2.\n');
    expect((await mcp('call', 'echo', 'message:="[1]"')).stdout).toBe('Echo: [1]\n');
  });

  test('-o json has the whole result', async () => {
    const { stdout } = await mcp('call', 'get-structured-content', 'location=New York', '-o', 'json');
    expect(JSON.parse(stdout)).toMatchObject({ structuredContent: { temperature: expect.any(Number) } });
  });

  test('tells progress apart from the answer', async () => {
    const { stdout, stderr } = await mcp('call', 'trigger-long-running-operation', 'duration=0.2', 'steps=2');
    expect(stdout).toMatch(/^Long running operation completed/);
    expect(stderr).toBe('1/2\n2/2\n');
  });

  test('shows what is no text by what it is', async () => {
    expect((await mcp('call', 'get-tiny-image')).stdout).toMatch(/\[image\/png, \d+ bytes\]/);
  });

  test('says which argument is wrong, and does not call', async () => {
    const { code, stderr } = await mcp('call', 'get-sum', 'a=x', 'b=1');
    expect([code, stderr]).toEqual([2, 'Error: the argument a is a number, not "x"\nCode: GW_MCP_ARGUMENT\n']);
  });

  test('ends with 1 when the tool says that it failed', async () => {
    const { code, stdout } = await mcp('call', 'echo');
    expect([code, stdout]).toEqual([1, expect.stringMatching(/Invalid arguments for tool echo/)]);
  });

  test('knows no tool of another name', async () => {
    const { code, stderr } = await mcp('call', 'ECHO');
    expect([code, stderr]).toEqual([
      3,
      expect.stringMatching(/^Error: there is no tool "ECHO" here\nTry this: gwctl mcp call echo\n/),
    ]);
  });
});

describe('mcp read and prompt', () => {
  test('list what there is, and get one', async () => {
    const listed = (await mcp('read')).stdout.split('\n');
    expect(listed[0]).toMatch(/^URI +NAME +TYPE +DESCRIPTION$/);
    const [uri = ''] = (await mcp('read', '-o', 'name')).stdout.split('\n');
    expect(listed[1]).toMatch(/ text\/\w+ /);
    expect(listed[1]?.split(' ')[0]).toBe(uri);
    const { stdout } = await mcp('read', uri, '-o', 'json');
    expect(JSON.parse(stdout)).toMatchObject({ contents: [{ uri, text: expect.any(String) }] });
    const prompts = (await mcp('prompt')).stdout;
    expect(prompts).toMatch(/^NAME +ARGUMENTS +DESCRIPTION\n/);
    expect(prompts).toMatch(/^simple-prompt +- +\w/m);
    expect(prompts).toMatch(/^args-prompt +city \[state\] +\w/m);
    expect((await mcp('prompt', '-o', 'name')).stdout).toMatch(/^simple-prompt$/m);
    expect((await mcp('prompt', 'args-prompt', 'city=Bern', 'state=BE')).stdout).toMatch(/^user:\n.*Bern/);
  });

  test.each([
    ['read', 'memo:a'],
    ['prompt', 'simple-prompt'],
  ])('print names of lists alone: %s', async (command, name) => {
    const { code, stderr } = await mcp(command, name, '-o', 'name');
    expect([code, stderr]).toEqual([2, expect.stringContaining('-o name')]);
  });

  test('tell the server from a place where none is', async () => {
    const { code, stderr } = await gwctl(['mcp', 'read', '--url', 'http://127.0.0.1:1/mcp']);
    expect([code, stderr.includes('Error: ')]).toEqual([4, true]);
  });
});

describe('a server behind a login', () => {
  async function serverOf(listener: RequestListener): Promise<string> {
    const http = createServer(listener).listen(0, '127.0.0.1');
    await once(http, 'listening');
    closing.push(http);
    return `http://127.0.0.1:${(http.address() as AddressInfo).port}`; // listens on a port
  }
  const closing: Server[] = [];
  afterEach(() => {
    for (const http of closing.splice(0)) {
      http.closeAllConnections();
      http.close();
    }
  });

  test('says who gives tokens for it, to whom has none and to whom has a bad one', async () => {
    const seen: (string | undefined)[] = [];
    const at = await serverOf((request, response) => {
      if (request.url === '/meta') {
        seen.push(request.headers.authorization);
        response.end(
          JSON.stringify({
            authorization_servers: ['https://login.example', 'https://a.test/\u001b[31m', 'javascript:x', 7],
          }),
        );
        return;
      }
      const challenge = `Bearer error="x", resource_metadata="http://${request.headers.host}/meta"`;
      response.writeHead(401, { 'www-authenticate': challenge }).end('{}');
    });
    const without = await gwctl(['mcp', 'tools', '--url', `${at}/mcp`]);
    expect(without.code).toBe(5);
    expect(without.stderr).toMatch(/asks for a login/);
    expect(without.stderr).toContain(`resource metadata: ${at}/meta\nauthorization server: https://login.example\n`);
    expect(without.stderr).toContain('--token, an access token of https://login.example');
    expect(without.stderr).not.toMatch(/javascript|\u001b/);
    const bad = await gwctl(['mcp', 'tools', '--url', `${at}/mcp`, '--token', 'secret-1']);
    expect([bad.code, bad.stderr]).toEqual([5, expect.stringMatching(/refuses the token/)]);
    expect(bad.stderr).not.toContain('secret-1');
    expect(seen).toEqual([undefined, undefined]);
  });

  test.each([
    ['no header', ''],
    ['another scheme', 'Basic realm="x"'],
    ['an address that is none', 'Bearer resource_metadata="javascript:alert(1)"'],
    ['an address where nobody is', 'Bearer resource_metadata="http://127.0.0.1:1/"'],
    ['an address that gives no metadata', 'Bearer resource_metadata="/mcp"'],
  ])('is refused in words whatever it says: %s', async (_what, challenge) => {
    const at = await serverOf((_request, response) => {
      if (challenge !== '') response.setHeader('www-authenticate', challenge);
      response.writeHead(401).end('<html>');
    });
    const { code, stderr } = await gwctl(['mcp', 'tools', '--url', `${at}/mcp`]);
    expect([code, stderr]).toEqual([5, expect.stringMatching(/asks for a login[\s\S]*Try this: --token/)]);
  });

  test('that forbids it says why', async () => {
    const at = await serverOf((_request, response) => response.writeHead(403).end('authorization failed'));
    const { code, stderr } = await gwctl(['mcp', 'tools', '--url', `${at}/mcp`, '--token', 't']);
    expect([code, stderr]).toEqual([5, expect.stringContaining('does not allow this: authorization failed\n')]);
  });

  test('lets the owner of a token in', async () => {
    const at = await serverOf((request, response) => {
      if (request.headers.authorization !== 'Bearer good') return response.writeHead(401).end();
      const onward = httpRequest(server.url, { method: request.method ?? '', headers: request.headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 0, answer.headers);
        answer.pipe(response);
      });
      return request.pipe(onward);
    });
    const { code, stdout } = await gwctl(['mcp', 'tools', '--url', `${at}/mcp`, '--token', 'good', '-o', 'name']);
    expect([code, stdout.includes('get-sum\n')]).toEqual([0, true]);
  });

  test('that is a gateway names its provider, and lets the owner of its token in', async () => {
    const key = await signer('key');
    const provider = await IdentityProvider.start(key);
    const issuer = `${provider.origin}/tenant`;
    provider.keysAt('/tenant/.well-known/jwks.json');
    const gateway = await startGateway(`gateways: {default: {port: 80}}
mcp:
  targets: [{name: everything, mcp: {host: "${server.url}"}}]
  policies: {mcpAuthentication: {issuer: "${issuer}", audiences: [api], resourceMetadata: {}}}
`);
    try {
      const url = `http://127.0.0.1:${gateway.port(80)}/mcp`;
      const without = await gwctl(['mcp', 'tools', '--url', url]);
      expect([without.code, without.stderr]).toEqual([5, expect.stringContaining(`authorization server: ${issuer}\n`)]);
      const token = await provider.token(issuer);
      const { code, stdout } = await gwctl(['mcp', 'tools', '--url', url, '--token', token, '-o', 'name']);
      expect([code, stdout.includes('get-sum\n')]).toEqual([0, true]);
    } finally {
      await gateway.close();
      await provider.close();
    }
  });
});
