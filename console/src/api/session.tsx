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
  if (!session) throw new Error('useSession is for pages of who is signed in');
  return session;
}

interface Props {
  /** Shown while nobody is signed in. */
  signIn: (props: SignInProps) => ReactNode;
  /** Shown until the session was read for the first time. */
  loading: ReactNode;
  /** Shown while the session cannot be read. */
  unreachable: (props: UnreachableProps) => ReactNode;
  children: ReactNode;
}

export interface SignInProps {
  /** Why the key is requested again. Undefined for the first time. */
  reason: string | undefined;
  signIn: (key: string) => Promise<void>;
}

export interface UnreachableProps {
  retry: () => void;
}

const MINUTE_MS = 60_000;

/** The delay before the next attempt. */
const RETRY_MS = 3_000;

/** Whether a response says that nobody is signed in. Other failures say nothing about that. */
const isSignedOut = (error: unknown) =>
  error instanceof ApiProblem && (error.status === 401 || error.status === 403);

const IDLE = 'You were signed out because you were inactive.';
const ENDED = 'Your session has ended. Sign in again.';

/** Provides the session. The key is sent once and stored nowhere. After that, the browser's cookie replaces it. */
export function SessionProvider({ signIn: SignIn, unreachable: Unreachable, loading, children }: Props) {
  const queries = useQueryClient();
  // Null: nobody is signed in. Undefined: not known yet. If the browser sends no cookie, the page already says so.
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
        // An ended session is equally good. A session that could not be ended still gives access, and the page must
        // show that.
        if (why === undefined && !isSignedOut(error)) throw error;
      });
      take(null, why);
      const away = ended?.data?.end_session_url ?? null;
      if (why === undefined && away !== null) location.assign(away); // Whoever is idle stays signed in at the provider.
    },
    [take],
  );

  const look = useCallback(() => whoIsSignedIn().then(take, setOutage), [take]);

  useEffect(() => {
    whenSessionEnds(() => setSession((was) => (was ? (take(null, ENDED), null) : was)));
    if (document.documentElement.dataset.session !== 'none') void look();
  }, [take, look]);
  useRetry(outage, look);

  if (session === undefined) {
    return outage === undefined ? loading : <Unreachable retry={() => void look()} />;
  }
  if (session === null) return <SignIn reason={reason} signIn={signIn} />;
  return (
    <SignedIn session={session} signOut={signOut}>
      {children}
    </SignedIn>
  );
}

/** Forgets what was shown and typed. The next person to sign in may be somebody else. */
function forget(queries: QueryClient): void {
  queries.clear();
  sessionStorage.clear();
}

/** Null if nobody is signed in. It fails while the session cannot be read. */
const whoIsSignedIn = () =>
  http.GET('/v1/session').then(
    ({ data }) => data ?? null,
    (error: unknown) => {
      if (isSignedOut(error)) return null;
      throw error;
    },
  );

/** Repeats the query some time after each failure. Every failure is a new object. */
function useRetry(failure: unknown, look: () => Promise<void>): void {
  useEffect(() => {
    if (failure === undefined) return undefined;
    const timer = setTimeout(() => void look(), RETRY_MS);
    return () => clearTimeout(timer);
  }, [failure, look]);
}

interface SignedInProps {
  session: SessionRecord;
  signOut: (why?: string) => Promise<void>;
  children: ReactNode;
}

function SignedIn({ session, signOut, children }: SignedInProps) {
  // The page's own requests prolong the session. Only people's actions may prolong it forever.
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
