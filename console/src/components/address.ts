import { useCallback, useMemo } from 'react';
import { useSearchParams } from 'wouter';

/** Where a list goes on, in the address. */
const PAGE_TOKEN = 'page_token';

/**
 * What a page shows, kept in its address: a link to it shows the same again.
 * @param names of the API's query parameters.
 */
export function useAddress<Name extends string>(names: readonly Name[]) {
  const [params, setParams] = useSearchParams();
  const text = params.toString();
  const values = useMemo(() => {
    const known = new URLSearchParams(text);
    const entries = names.map((name) => [name, known.get(name)] as const).filter(([, value]) => value);
    return Object.fromEntries(entries) as Partial<Record<Name, string>>;
  }, [text, names]);

  /** Undefined takes a value away. Other values are another list: it begins at its first page. */
  const change = useCallback(
    (changes: Partial<Record<Name | typeof PAGE_TOKEN, string | undefined>>) => {
      setParams((before) => {
        const next = new URLSearchParams(before);
        next.delete(PAGE_TOKEN);
        for (const [name, value] of Object.entries<string | undefined>(changes)) {
          if (value === undefined || value === '') next.delete(name);
          else next.set(name, value);
        }
        return next;
      });
    },
    [setParams],
  );
  return { values, change, pageToken: params.get(PAGE_TOKEN) ?? undefined };
}
