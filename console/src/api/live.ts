import { useDocumentVisibility } from '@mantine/hooks';
import { useEffect, useRef, useState } from 'react';
import { http } from './client';
import { freshness } from './freshness';

export type Connection = 'connecting' | 'live' | 'lost';

/** Long enough for an ended stream to start again before it is reported as lost. */
const GRACE_MS = 5_000;
const RETRY_MS = 3_000;

interface Options {
  /**
   * A stream without an event for this long is dead, or the proxy does not respond. Without the limit, silence proves
   * nothing.
   */
  quietMs?: number;
}

/**
 * Follows server-sent events while the page is visible. Hidden tabs close their streams, because a browser has six
 * connections per host over HTTP/1.1. A stream that is lost, silent, or sends `unavailable` marks the page as out of
 * date (freshness.ts).
 * @param handlers by the event's name. They get its data, and the newest ones are used.
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
    const leave = follow({
      url,
      names: names.split(' '),
      quietMs,
      hear: (name, data) => newest.current[name]?.(data),
      turn: setConnection,
    });
    return () => {
      leave();
      freshness.markFresh(url);
      setConnection('connecting');
    };
  }, [url, names, isSeen, quietMs]);
  return connection;
}

interface Following {
  url: string;
  names: string[];
  quietMs: number | undefined;
  hear: (name: string, data: unknown) => void;
  turn: (connection: Connection) => void;
}

/** @returns a function that stops following. */
function follow({ url, names, quietMs, hear, turn }: Following): () => void {
  let source: EventSource | undefined;
  let confirmedAt: number | undefined;
  let heardAt = Date.now();
  let retrying: number | undefined;
  let losing: number | undefined;
  let hasLeft = false;

  const lose = () => {
    turn('lost');
    freshness.markStale(url, confirmedAt);
  };
  const confirm = () => {
    clearTimeout(losing);
    losing = undefined;
    confirmedAt = heardAt = Date.now();
    turn('live');
    freshness.markFresh(url);
  };
  const connect = () => {
    if (hasLeft) return;
    heardAt = Date.now();
    source = new EventSource(url);
    if (quietMs === undefined) source.onopen = confirm;
    source.onerror = () => {
      losing ??= window.setTimeout(lose, GRACE_MS);
      // The stream was rejected: EventSource gives up without a reason.
      if (source?.readyState === EventSource.CLOSED) again();
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
  /** Reads the session first, because that response shows whether it has ended. */
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
