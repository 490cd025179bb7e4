/** How an option of curl is read. `value` options take the next word, or the rest of a short cluster. */
export type CurlOption =
  | { readonly kind: 'flag'; readonly name: CurlFlag }
  | { readonly kind: 'value'; readonly name: CurlValue }
  /** Understood, and refused because it makes no sense here. */
  | { readonly kind: 'refused'; readonly why: string; readonly takesValue: boolean };

export type CurlFlag =
  | 'insecure'
  | 'include'
  | 'quiet'
  | 'verbose'
  | 'head'
  | 'get'
  | 'fail'
  | 'compressed'
  | 'http1.1'
  | 'http2'
  | 'http2-prior-knowledge';

export type CurlValue =
  | 'request'
  | 'header'
  | 'data'
  | 'data-raw'
  | 'data-binary'
  | 'data-urlencode'
  | 'json'
  | 'upload-file'
  | 'user'
  | 'oauth2-bearer'
  | 'user-agent'
  | 'referer'
  | 'cookie'
  | 'cacert'
  | 'cert'
  | 'key'
  | 'max-time'
  | 'connect-timeout'
  | 'url'
  | 'output';

const flag = (name: CurlFlag): CurlOption => ({ kind: 'flag', name });
const value = (name: CurlValue): CurlOption => ({ kind: 'value', name });
const refused = (why: string, takesValue: boolean): CurlOption => ({ kind: 'refused', why, takesValue });

const redirects = refused('a trace follows one request; a redirect is shown, not followed', false);
const route = refused('the request always goes to the target of the trace', true);

/** Every spelling that is understood. */
export const curlOptions: Readonly<Record<string, CurlOption>> = {
  '-X': value('request'),
  '--request': value('request'),
  '-H': value('header'),
  '--header': value('header'),
  '-d': value('data'),
  '--data': value('data'),
  '--data-ascii': value('data'),
  '--data-raw': value('data-raw'),
  '--data-binary': value('data-binary'),
  '--data-urlencode': value('data-urlencode'),
  '--json': value('json'),
  '-T': value('upload-file'),
  '--upload-file': value('upload-file'),
  '-u': value('user'),
  '--user': value('user'),
  '--oauth2-bearer': value('oauth2-bearer'),
  '-A': value('user-agent'),
  '--user-agent': value('user-agent'),
  '-e': value('referer'),
  '--referer': value('referer'),
  '-b': value('cookie'),
  '--cookie': value('cookie'),
  '--cacert': value('cacert'),
  '-E': value('cert'),
  '--cert': value('cert'),
  '--key': value('key'),
  '-m': value('max-time'),
  '--max-time': value('max-time'),
  '--connect-timeout': value('connect-timeout'),
  '--url': value('url'),
  '-o': value('output'),
  '--output': value('output'),
  '-k': flag('insecure'),
  '--insecure': flag('insecure'),
  '-i': flag('include'),
  '--include': flag('include'),
  '--show-headers': flag('include'),
  '-s': flag('quiet'),
  '--silent': flag('quiet'),
  '-S': flag('quiet'),
  '--show-error': flag('quiet'),
  '-v': flag('verbose'),
  '--verbose': flag('verbose'),
  '-I': flag('head'),
  '--head': flag('head'),
  '-G': flag('get'),
  '--get': flag('get'),
  '-f': flag('fail'),
  '--fail': flag('fail'),
  '--fail-with-body': flag('fail'),
  '--compressed': flag('compressed'),
  '-0': refused('requests are sent as HTTP/1.1 or HTTP/2', false),
  '--http1.0': refused('requests are sent as HTTP/1.1 or HTTP/2', false),
  '--http1.1': flag('http1.1'),
  '--http2': flag('http2'),
  '--http2-prior-knowledge': flag('http2-prior-knowledge'),
  '-L': redirects,
  '--location': redirects,
  '--location-trusted': redirects,
  '-x': route,
  '--proxy': route,
  '--resolve': route,
  '--connect-to': route,
  '--unix-socket': route,
  '--interface': route,
};
