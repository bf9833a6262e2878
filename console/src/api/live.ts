import { useDocumentVisibility } from '@mantine/hooks';
import { useEffect, useRef, useState } from 'react';
import { http } from './client';
import { freshness } from './freshness';

export type Connection = 'connecting' | 'live' | 'lost';

/** Long enough for a stream that ended as it should to begin again before anybody is told that it was lost. */
const GRACE_MS = 5_000;
const RETRY_MS = 3_000;

interface Options {
  /** A stream that says nothing for so long is dead, or the proxy is frozen. Without it, silence is no sign. */
  quietMs?: number;
}

/**
 * Follows server-sent events for as long as the page is shown. Tabs that nobody sees let go: over HTTP/1.1 a browser has six
 * connections for all of them. A stream that is lost, silent, or says `unavailable` makes the page out of date (freshness.ts).
 * @param handlers by the event's name, of its data; the newest ones are used.
 */
export function useEvents(
  url: string | undefined,
  handlers: Record<string, (data: unknown) => void>,
  { quietMs }: Options = {},
): Connection {
  const [connection, setConnection] = useState<Connection>('connecting');
  const newest = useRef(handlers);
  useEffect(() => {
    newest.current = handlers;
  });
  const names = Object.keys(handlers).join(' ');
  const isSeen = useDocumentVisibility() !== 'hidden';
  useEffect(() => {
    if (url === undefined || !isSeen) return undefined;
    const leave = follow(url, names.split(' '), quietMs, {
      hear: (name, data) => newest.current[name]?.(data),
      turn: setConnection,
    });
    return () => {
      leave();
      freshness.current(url);
      setConnection('connecting');
    };
  }, [url, names, isSeen, quietMs]);
  return connection;
}

interface Following {
  hear: (name: string, data: unknown) => void;
  turn: (connection: Connection) => void;
}

/** @returns how to stop following. */
function follow(url: string, names: string[], quietMs: number | undefined, { hear, turn }: Following): () => void {
  let source: EventSource | undefined;
  let confirmedAt: number | undefined;
  let heardAt = Date.now();
  let retrying: number | undefined;
  let losing: number | undefined;
  let hasLeft = false;

  const lose = () => {
    turn('lost');
    freshness.outdated(url, confirmedAt);
  };
  const confirm = () => {
    clearTimeout(losing);
    losing = undefined;
    confirmedAt = heardAt = Date.now();
    turn('live');
    freshness.current(url);
  };
  const connect = () => {
    if (hasLeft) return;
    heardAt = Date.now();
    source = new EventSource(url);
    if (quietMs === undefined) source.onopen = confirm;
    source.onerror = () => {
      losing ??= window.setTimeout(lose, GRACE_MS);
      if (source?.readyState === EventSource.CLOSED) again(); // refused: EventSource gives up, and does not say why
    };
    source.addEventListener('unavailable', () => {
      heardAt = Date.now();
      lose();
    });
    for (const name of names) {
      source.addEventListener(name, ({ data }: MessageEvent<string>) => {
        confirm();
        hear(name, JSON.parse(data));
      });
    }
  };
  /** Asks who is signed in first: a session that has ended is said by that answer. */
  const again = () => {
    source?.close();
    lose();
    clearTimeout(retrying);
    retrying = window.setTimeout(() => void http.GET('/v1/session').then(connect, () => hasLeft || again()), RETRY_MS);
  };
  const watch = window.setInterval(() => {
    if (quietMs !== undefined && source?.readyState !== EventSource.CLOSED && Date.now() - heardAt > quietMs) again();
  }, 1_000);
  connect();
  return () => {
    hasLeft = true;
    source?.close();
    clearInterval(watch);
    for (const timer of [retrying, losing]) clearTimeout(timer);
  };
}
