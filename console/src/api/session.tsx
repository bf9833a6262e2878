import { notifications } from '@mantine/notifications';
import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useState } from 'react';
import { http, setCsrfToken, whenSessionEnds } from './client';
import type { SessionRecord } from './generated/schema';
import { useIdle } from './idle';
import { ApiProblem, messageOf } from './problem';

export type Scope = SessionRecord['scopes'][number];

interface SessionContext {
  session: SessionRecord;
  /** Whether the key has one of these scopes. */
  may: (...scopes: Scope[]) => boolean;
  signOut: () => Promise<void>;
}

const Context = createContext<SessionContext | undefined>(undefined);

export function useSession(): SessionContext {
  const session = useContext(Context);
  if (!session) throw new Error('useSession requires a signed-in page');
  return session;
}

interface Props {
  /** Shown while signed out. */
  signIn: (props: SignInProps) => ReactNode;
  /** Shown until the session was first read. */
  loading: ReactNode;
  /** Shown while the session cannot be read. */
  unreachable: (props: UnreachableProps) => ReactNode;
  children: ReactNode;
}

export interface SignInProps {
  /** Reason for signing in again. Undefined on the first sign-in. */
  reason: string | undefined;
  signIn: (key: string) => Promise<void>;
}

export interface UnreachableProps {
  retry: () => void;
}

const MINUTE_MS = 60_000;

/** Delay before the next attempt. */
const RETRY_MS = 3_000;

/** Returns whether a response shows that no session exists. Other failures do not prove it. */
const isSignedOut = (error: unknown) =>
  error instanceof ApiProblem && (error.status === 401 || error.status === 403);

const IDLE = 'You were signed out because you were inactive.';
const ENDED = 'Your session has ended. Sign in again.';

/** Provides the session. The key is sent once and never stored. A cookie identifies the user afterwards. */
export function SessionProvider({ signIn: SignIn, unreachable: Unreachable, loading, children }: Props) {
  const queries = useQueryClient();
  // Null means signed out, undefined means unknown. The server marks pages requested without a cookie.
  const [session, setSession] = useState<SessionRecord | null | undefined>(() =>
    document.documentElement.dataset.session === 'none' ? null : undefined,
  );
  const [reason, setReason] = useState<string>();
  const [outage, setOutage] = useState<unknown>();

  const take = useCallback(
    (next: SessionRecord | null, why?: string) => {
      setCsrfToken(next?.csrf_token);
      if (next === null) forget(queries);
      setReason(why);
      setOutage(undefined);
      setSession(next);
    },
    [queries],
  );
  const signIn = useCallback(
    async (key: string) => {
      const { data } = await http.POST('/v1/session', { headers: { 'X-API-Key': key } });
      take(data ?? null);
    },
    [take],
  );
  const signOut = useCallback(
    async (why?: string) => {
      const ended = await http.DELETE('/v1/session').catch((error: unknown) => {
        // A session that could not be ended still grants access, so the user must know.
        if (why === undefined && !isSignedOut(error)) throw error;
      });
      take(null, why);
      const away = ended?.data?.end_session_url ?? null;
      // Idle users stay signed in at the provider.
      if (why === undefined && away !== null) location.assign(away);
    },
    [take],
  );

  const refresh = useCallback(() => readSession().then(take, setOutage), [take]);

  useEffect(() => {
    whenSessionEnds(() => setSession((was) => (was ? (take(null, ENDED), null) : was)));
    if (document.documentElement.dataset.session !== 'none') void refresh();
  }, [take, refresh]);
  useRetry(outage, refresh);

  if (session === undefined) {
    return outage === undefined ? loading : <Unreachable retry={() => void refresh()} />;
  }
  if (session === null) return <SignIn reason={reason} signIn={signIn} />;
  return (
    <SignedIn session={session} signOut={signOut}>
      {children}
    </SignedIn>
  );
}

/** Clears all data and drafts, because the next person to sign in may be another one. */
function forget(queries: QueryClient): void {
  queries.clear();
  sessionStorage.clear();
}

/** Reads the session. Null means signed out. Rejects while the session cannot be read. */
const readSession = () =>
  http.GET('/v1/session').then(
    ({ data }) => data ?? null,
    (error: unknown) => {
      if (isSignedOut(error)) return null;
      throw error;
    },
  );

/** Retries after each failure. Every failure is a new object, so each one starts a timer. */
function useRetry(failure: unknown, refresh: () => Promise<void>): void {
  useEffect(() => {
    if (failure === undefined) return undefined;
    const timer = setTimeout(() => void refresh(), RETRY_MS);
    return () => clearTimeout(timer);
  }, [failure, refresh]);
}

interface SignedInProps {
  session: SessionRecord;
  signOut: (why?: string) => Promise<void>;
  children: ReactNode;
}

function SignedIn({ session, signOut, children }: SignedInProps) {
  // The page's own requests extend the session on the server. Only user activity may keep it open for longer.
  const onIdle = useCallback(() => void signOut(IDLE), [signOut]);
  useIdle(session.idle_minutes * MINUTE_MS, onIdle);
  const context = useMemo(
    () => ({
      session,
      may: (...scopes: Scope[]) => scopes.some((scope) => session.scopes.includes(scope)),
      signOut: () =>
        signOut().catch((error: unknown) => {
          notifications.show({ color: 'red', message: `You are still signed in. ${messageOf(error)}` });
        }),
    }),
    [session, signOut],
  );
  return <Context.Provider value={context}>{children}</Context.Provider>;
}
