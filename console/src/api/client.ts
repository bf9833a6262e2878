import createFetchClient, { type Middleware } from 'openapi-fetch';
import createClient from 'openapi-react-query';
import type { paths } from './generated/schema';
import { ApiProblem, problemIn } from './problem';

/** Set by session.tsx. It exists only in memory, so a reload requests it again. */
let csrfToken: string | undefined;
let onSessionEnd: () => void = () => undefined;

export function setCsrfToken(token: string | undefined): void {
  csrfToken = token;
}

/** @param ended called when a response reports the end of the session. */
export function whenSessionEnds(ended: () => void): void {
  onSessionEnd = ended;
}

/** Throws an ApiProblem for each unsuccessful response. */
const problems: Middleware = {
  async onResponse({ response, request }) {
    if (response.ok) return;
    const problem = await problemIn(response);
    if (problem.status === 401 && request.headers.get('X-API-Key') === null) onSessionEnd();
    throw problem;
  },
  onError({ error }) {
    return error instanceof Error && error.name === 'AbortError' ? error : new ApiProblem(undefined);
  },
};

const csrf: Middleware = {
  onRequest({ request }) {
    if (request.method !== 'GET' && csrfToken !== undefined) request.headers.set('X-CSRF-Token', csrfToken);
  },
};

/** Client of /v1. Masks people unless a request uses `revealing`. The proxy records each read of people. */
export const http = createFetchClient<paths>({ baseUrl: '/', headers: { 'X-People': 'masked' } });
http.use(csrf, problems);

/** Returns request headers that unmask people, if the key has access to them. */
export const revealing = (reveal: boolean) => ({ 'X-People': reveal ? null : 'masked' });

/** The /v1 API as hooks: `api.useQuery('get', '/v1/stops')`. */
export const api = createClient(http);

/** Request headers. Null omits a default header. */
export type RawHeaders = Record<string, string | null>;

/** Fetches a response that is not JSON, such as an export, with the same headers and errors. */
export async function raw(
  path: string,
  { headers, ...init }: Omit<RequestInit, 'headers'> & { headers?: RawHeaders | undefined } = {},
): Promise<Response> {
  const entries = Object.entries({ 'X-People': 'masked', ...headers });
  const sent = new Headers(entries.filter((header): header is [string, string] => header[1] !== null));
  if (csrfToken !== undefined && init.method !== undefined) sent.set('X-CSRF-Token', csrfToken);
  const response = await fetch(path, { ...init, headers: sent }).catch((error: unknown) => {
    throw error instanceof Error && error.name === 'AbortError' ? error : new ApiProblem(undefined);
  });
  if (response.ok) return response;
  const problem = await problemIn(response);
  if (problem.status === 401) onSessionEnd();
  throw problem;
}

/** Returns query options that show the previous page while the next one loads. Never keeps people. */
export const whilePaging = (reveal: boolean) =>
  reveal
    ? { gcTime: 0 }
    : {
        placeholderData: <Data>(
          before: Data | undefined,
          query: { queryKey: readonly unknown[] } | undefined,
        ) => (isMasked(query?.queryKey[2]) ? before : undefined),
      };

const isMasked = (init: unknown) =>
  (init as { headers?: Record<string, unknown> } | undefined)?.headers?.['X-People'] === 'masked';
