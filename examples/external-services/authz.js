// An authorization service: node examples/external-services/authz.js PORT
// It is asked with the headers of each request. 200 lets it through, and `x-user` tells who it is; anything else refuses.
import http from 'node:http';

const users = { 'session=ann': 'ann', 'session=bob': 'bob' };

http
  .createServer((request, response) => {
    process.stderr.write(`asked about ${request.method} ${request.url}\n`);
    const user = users[request.headers.cookie ?? ''];
    if (user === undefined) response.writeHead(401, { 'content-type': 'text/plain' }).end('log in first\n');
    else response.writeHead(200, { 'x-user': user }).end();
  })
  .listen(Number(process.argv[2]));
