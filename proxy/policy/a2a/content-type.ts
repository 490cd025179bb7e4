export function isJson(type: string | undefined): boolean {
  return type !== undefined && /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(type);
}

export function isEventStream(type: string | undefined): boolean {
  return type !== undefined && /^text\/event-stream\s*(?:;|$)/i.test(type);
}

export function isGrpc(type: string | undefined): boolean {
  return type !== undefined && /^application\/grpc(?:[+;]|$)/.test(type);
}
