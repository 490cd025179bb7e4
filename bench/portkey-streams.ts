/** Loaded before Portkey's gateway: it writes to the headers of streamed answers, which no current Node lets it do. */
const { fetch } = globalThis;

globalThis.fetch = async (...given) => {
  const answer = await fetch(...given);
  const streams = answer.headers.get('content-type') === 'text/event-stream';
  return streams ? new Response(answer.body, { status: answer.status, headers: answer.headers }) : answer;
};
