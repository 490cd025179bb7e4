import { execFileSync } from 'node:child_process';
import { describe, expect, test } from '@jest/globals';
import type { TraceEvent } from '../../../src/admin/protocol/trace-event.ts';
import { toCurl, toHar, toJsonLines } from '../../../ui/trace/export.ts';
import { recording } from '../recordings.ts';

describe('export', () => {
  test('JSON Lines can be read again', () => {
    const events = recording('retry');
    expect(
      toJsonLines(events)
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual(events);
  });

  test('HAR holds request, response and times', () => {
    const { log } = JSON.parse(toHar([recording('plain-200'), recording('no-route-404')])) as {
      log: { version: string; entries: Record<string, never>[] };
    };
    expect(log.version).toBe('1.2');
    expect(log.entries).toHaveLength(2);
    expect(log.entries[0]).toMatchObject({
      startedDateTime: '2026-11-21T09:15:02.123417Z',
      time: 1.102,
      request: {
        method: 'GET',
        url: 'http://shop.test/cart?user=42&lang=ja',
        queryString: [
          { name: 'user', value: '42' },
          { name: 'lang', value: 'ja' },
        ],
      },
      response: { status: 200, content: { mimeType: 'application/json', encoding: 'base64' } },
      timings: { wait: 0.707 },
    });
  });

  test('curl sends method, headers and body', () => {
    expect(toCurl(recording('retry'))).toBe(
      `curl -X POST -H 'accept: */*' -H 'user-agent: curl/8.5.0' --data-binary '{"sku":"a-17","qty":2}' http://shop.test/orders\n`,
    );
  });

  test('curl names the headers that the trace does not hold', () => {
    expect(toCurl(recording('policies-403'))).toMatch(/^# not recorded, add them yourself: authorization\ncurl /);
  });

  test('a hostile path or header cannot run anything in the shell', () => {
    const evil = `/x'; touch /tmp/evil; echo '$(id)\``;
    const events: TraceEvent[] = [
      {
        eventStart: null,
        eventEnd: 1,
        severity: 'info',
        message: {
          type: 'requestSnapshot',
          stage: 'initial request',
          requestState: { request: { method: 'GET', host: 'h', path: evil, headers: { 'x-a': `b'\n"$HOME"` } } },
        },
      },
    ];
    const words = execFileSync('sh', ['-c', `printf '%s\\0' ${toCurl(events) ?? ''}`], { encoding: 'utf8' }).split(
      '\0',
    );
    expect(words).toEqual(['curl', '-H', `x-a: b'\n"$HOME"`, `http://h${evil}`, '']);
  });

  test('without a snapshot there is no request to write', () => {
    expect(toCurl([])).toBeUndefined();
    expect(JSON.parse(toHar([[]]))).toMatchObject({ log: { entries: [] } });
  });
});
