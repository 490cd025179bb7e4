// An application to put behind the examples: node examples/echo.js PORT…
// It answers with the port, what it was asked and the headers that came. `?status=503` answers with that status,
// `?delay=2000` after that many milliseconds. With the variables CERT and KEY, names of PEM files, it speaks TLS.
import fs from 'node:fs';
import http from 'node:http';
import https from 'node:https';

const { CERT, KEY } = process.env;

for (const port of process.argv.slice(2)) {
  const server =
    CERT === undefined
      ? http.createServer()
      : https.createServer({ cert: fs.readFileSync(CERT), key: fs.readFileSync(KEY) });
  server.on('request', async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const query = new URL(request.url, 'http://localhost').searchParams;
    const headers = Object.entries(request.headers).map(([name, value]) => `${name}: ${value}\n`);
    const text = `${port} ${request.method} ${request.url}\n${headers.join('')}${Buffer.concat(chunks)}`;
    setTimeout(
      () => {
        response.writeHead(Number(query.get('status') ?? 200), { 'content-type': 'text/plain' });
        response.end(text);
      },
      Number(query.get('delay') ?? 0),
    );
  });
  server.listen(Number(port));
}
