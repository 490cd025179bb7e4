// A guard of one's own: node examples/llm-guardrails/guard.js PORT
// It refuses prompts about a project that nobody may know of, and lets answers pass.
import http from 'node:http';

const server = http.createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const { body } = JSON.parse(Buffer.concat(chunks));
  const secret = JSON.stringify(body).includes('Bluebird');
  const action = secret ? { body: 'There is no such project.', status_code: 403, reason: 'bluebird' } : {};
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ action }));
});
server.listen(Number(process.argv[2]));
