import { useDocumentVisibility } from '@mantine/hooks';
import { useEffect, useRef, useState } from 'react';
import { http } from './client';
import { freshness } from './freshness';

export type Connection = 'connecting' | 'live' | 'lost';

/** Grace period for an ended stream to reconnect before it is reported as lost. */
const GRACE_MS = 5_000;
const RETRY_MS = 3_000;

interface Options {
  /** Longest silence before the stream counts as dead, in milliseconds. Undefined accepts any silence. */
  quietMs?: number;
}

/**
 * Follows server-sent events while the page is visible. Hidden tabs close their streams, because browsers
 * allow six connections per host over HTTP/1.1. A stream that is lost, silent, or sends `unavailable` marks
 * the page as stale (freshness.ts).
 * @param handlers by event name. Each receives the event's data.
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
    const leave = openStream({
      url,
      names: names.split(' '),
      quietMs,
      onEvent: (name, data) => newest.current[name]?.(data),
      onConnection: setConnection,
    });
    return () => {
      leave();
      freshness.markFresh(url);
      setConnection('connecting');
    };
  }, [url, names, isSeen, quietMs]);
  return connection;
}

interface StreamOptions {
  url: string;
  names: string[];
  quietMs: number | undefined;
  onEvent: (name: string, data: unknown) => void;
  onConnection: (connection: Connection) => void;
}

/** Opens the stream, and reopens it when it ends. @returns a function that closes it. */
function openStream({ url, names, quietMs, onEvent, onConnection }: StreamOptions): () => void {
  let source: EventSource | undefined;
  let confirmedAt: number | undefined;
  let heardAt = Date.now();
  let retrying: number | undefined;
  let losing: number | undefined;
  let hasLeft = false;

  const lose = () => {
    onConnection('lost');
    freshness.markStale(url, confirmedAt);
  };
  const confirm = () => {
    clearTimeout(losing);
    losing = undefined;
    confirmedAt = heardAt = Date.now();
    onConnection('live');
    freshness.markFresh(url);
  };
  const connect = () => {
    if (hasLeft) return;
    heardAt = Date.now();
    source = new EventSource(url);
    if (quietMs === undefined) source.onopen = confirm;
    source.onerror = () => {
      losing ??= window.setTimeout(lose, GRACE_MS);
      // The proxy rejected the stream. EventSource gives no reason.
      if (source?.readyState === EventSource.CLOSED) again();
    };
    source.addEventListener('unavailable', () => {
      heardAt = Date.now();
      lose();
    });
    for (const name of names) {
      source.addEventListener(name, ({ data }: MessageEvent<string>) => {
        confirm();
        onEvent(name, JSON.parse(data));
      });
    }
  };
  /** Reads the session first, because the response shows whether the session has ended. */
  const again = () => {
    source?.close();
    lose();
    clearTimeout(retrying);
    const reconnect = () => void http.GET('/v1/session').then(connect, () => hasLeft || again());
    retrying = window.setTimeout(reconnect, RETRY_MS);
  };
  const watch = window.setInterval(() => {
    const isSilent = quietMs !== undefined && Date.now() - heardAt > quietMs;
    if (isSilent && source?.readyState !== EventSource.CLOSED) again();
  }, 1_000);
  connect();
  return () => {
    hasLeft = true;
    source?.close();
    clearInterval(watch);
    for (const timer of [retrying, losing]) clearTimeout(timer);
  };
}
