import { describe, expect, test } from '@jest/globals';

import { formatLine, formatTime, Logger, LogFilter } from '../../src/shared/log.ts';

function filter(text: string): LogFilter {
  const parsed = LogFilter.parse(text);
  if (typeof parsed === 'string') throw new Error(parsed);
  return parsed;
}

describe('the filter', () => {
  test('the most specific clause decides, whatever the order', () => {
    const parsed = filter('proxy.listener=trace,warn,proxy=debug');
    expect(parsed.levelOf('config')).toBe('warn');
    expect(parsed.levelOf('proxy')).toBe('debug');
    expect(parsed.levelOf('proxy.backend')).toBe('debug');
    expect(parsed.levelOf('proxy.listener')).toBe('trace');
    expect(parsed.levelOf('proxyx')).toBe('warn');
  });

  test('further clauses replace those of the same scope', () => {
    const changed = filter('info,request=off').with('request=info,debug');
    expect(String(changed)).toBe('request=info,debug');
  });

  test.each(['', 'loud', 'proxy', 'INFO', 'proxy:debug', 'a b=info', '=info'])('refuses %p', (text) => {
    expect(typeof LogFilter.parse(text)).toBe('string');
  });

  test('refuses a filter of unreasonable length', () => {
    expect(LogFilter.parse(`x=${'y'.repeat(5000)}`)).toContain('longer');
  });

  test('off silences a scope and nothing is enabled at off', () => {
    expect(filter('info,request=off').enabled('request', 'error')).toBe(false);
    expect(filter('info').enabled('request', 'off')).toBe(false);
  });
});

describe('the logger', () => {
  test('writes text lines with tabs and JSON lines with the same facts', () => {
    const line = {
      timeMs: 1767323045678.901,
      level: 'warn',
      scope: 'config',
      message: 'reload\nfailed',
      fields: { file: 'a b', n: 2 },
    } as const;
    expect(formatLine('text', line)).toBe('2026-01-02T03:04:05.678901Z\twarn\tconfig\treload failed\tfile="a b" n=2\n');
    expect(JSON.parse(formatLine('json', line))).toEqual({
      level: 'warn',
      time: '2026-01-02T03:04:05.678901Z',
      scope: 'config',
      message: 'reload\nfailed',
      file: 'a b',
      n: 2,
    });
  });

  test('follows a changed filter in scopes that were taken before', () => {
    const lines: string[] = [];
    const logger = new Logger({ filter: filter('warn'), format: 'text', write: (text) => void lines.push(text) });
    const log = logger.scope('config');
    log.info('first');
    logger.setFilter(filter('warn,config=debug'));
    log.debug('second');
    expect(log.enabled('trace')).toBe(false);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('\tdebug\tconfig\tsecond');
  });

  test('times go on over the end of a second', () => {
    expect(formatTime(999.999)).toBe('1970-01-01T00:00:00.999999Z');
    expect(formatTime(1000)).toBe('1970-01-01T00:00:01.000000Z');
  });
});
