import { useCallback, useMemo } from 'react';
import { useSearchParams } from 'wouter';

/** URL parameter for the position in a list. */
const PAGE_TOKEN = 'page_token';

/**
 * Keeps the state of a page in its URL, so that a link reproduces the page.
 * @param names query parameters of the API.
 */
export function useAddress<Name extends string>(names: readonly Name[]) {
  const [params, setParams] = useSearchParams();
  const text = params.toString();
  const values = useMemo(() => {
    const known = new URLSearchParams(text);
    const entries = names.map((name) => [name, known.get(name)] as const).filter(([, value]) => value);
    return Object.fromEntries(entries) as Partial<Record<Name, string>>;
  }, [text, names]);

  /** Updates query parameters. Undefined removes one. Each change resets the paging. */
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
  const token = params.get(PAGE_TOKEN);
  const page: { page_token?: string } = token === null ? {} : { page_token: token };
  return { values, change, page };
}
