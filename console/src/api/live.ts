import { useDocumentVisibility } from '@mantine/hooks';
import { useEffect, useRef, useState } from 'react';

export type Connection = 'connecting' | 'live' | 'lost';

/**
 * Follows server-sent events for as long as the page is shown; EventSource connects again by itself. Tabs that nobody sees
 * let go: over HTTP/1.1 a browser has six connections for all of them.
 * @param handlers by the event's name, of its data; the newest ones are used.
 */
export function useEvents(url: string | undefined, handlers: Record<string, (data: unknown) => void>): Connection {
  const [connection, setConnection] = useState<Connection>('connecting');
  const newest = useRef(handlers);
  useEffect(() => {
    newest.current = handlers;
  });
  const names = Object.keys(handlers).join(' ');
  const isSeen = useDocumentVisibility() !== 'hidden';
  useEffect(() => {
    if (url === undefined || !isSeen) return undefined;
    const source = new EventSource(url);
    source.onopen = () => setConnection('live');
    source.onerror = () => setConnection('lost');
    for (const name of names.split(' ')) {
      source.addEventListener(name, ({ data }: MessageEvent<string>) => newest.current[name]?.(JSON.parse(data)));
    }
    return () => source.close();
  }, [url, names, isSeen]);
  return connection;
}
