import { notifications } from '@mantine/notifications';
import { useQueryClient } from '@tanstack/react-query';
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
  /** What is shown while nobody is signed in. */
  signIn: (props: SignInProps) => ReactNode;
  /** What is shown until it is known whether somebody is. */
  loading: ReactNode;
  /** What is shown as long as nobody can say whether somebody is. */
  unreachable: (props: UnreachableProps) => ReactNode;
  children: ReactNode;
}

export interface SignInProps {
  /** Why it is asked for again; undefined: it is the first time. */
  reason: string | undefined;
  signIn: (key: string) => Promise<void>;
}

export interface UnreachableProps {
  retry: () => void;
}

const MINUTE_MS = 60_000;

/** How long after a try the next one follows. */
const RETRY_MS = 3_000;

/** Whether an answer says that nobody is signed in. Any other failure says nothing about that. */
const isSignedOut = (error: unknown) => error instanceof ApiProblem && (error.status === 401 || error.status === 403);

const IDLE = 'You were signed out because you were inactive.';
const ENDED = 'Your session has ended. Sign in again.';

/** Knows who is signed in. The key is sent once and kept nowhere; from then on, the browser's cookie speaks for it. */
export function SessionProvider({ signIn: SignIn, unreachable: Unreachable, loading, children }: Props) {
  const queries = useQueryClient();
  // Null: nobody; undefined: not known yet. Where the browser sends no cookie, the page comes with that news.
  const [session, setSession] = useState<SessionRecord | null | undefined>(() =>
    document.documentElement.dataset.session === 'none' ? null : undefined,
  );
  const [reason, setReason] = useState<string>();
  const [outage, setOutage] = useState<unknown>();

  const take = useCallback(
    (next: SessionRecord | null, why?: string) => {
      setCsrfToken(next?.csrf_token);
      if (next === null) queries.clear(); // the next one to sign in may be somebody else
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
      await http.DELETE('/v1/session').catch((error: unknown) => {
        // An ended session is as good. One that could not be ended still opens everything: the page must not hide that.
        if (why === undefined && !isSignedOut(error)) throw error;
      });
      take(null, why);
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

/** Null: nobody. It fails as long as nobody can say. */
const whoIsSignedIn = () =>
  http.GET('/v1/session').then(
    ({ data }) => data ?? null,
    (error: unknown) => {
      if (isSignedOut(error)) return null;
      throw error;
    },
  );

/** Looks again some time after each failure; every one of them is another object. */
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
  // What the page asks for by itself keeps the session alive; only people's own doings may keep it for ever.
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
