import { useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useState } from 'react';
import { http, setCsrfToken, whenSessionEnds } from './client';
import type { SessionRecord } from './generated/schema';
import { useIdle } from './idle';

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
  children: ReactNode;
}

export interface SignInProps {
  /** Why it is asked for again; undefined: it is the first time. */
  reason: string | undefined;
  signIn: (key: string) => Promise<void>;
}

const MINUTE_MS = 60_000;

const IDLE = 'You were signed out because nothing was done here for a while.';
const ENDED = 'Your session has ended. Sign in again.';

/** Knows who is signed in. The key is sent once and kept nowhere; from then on, the browser's cookie speaks for it. */
export function SessionProvider({ signIn: SignIn, loading, children }: Props) {
  const queries = useQueryClient();
  // Null: nobody; undefined: not known yet. Where the browser sends no cookie, the page comes with that news.
  const [session, setSession] = useState<SessionRecord | null | undefined>(() =>
    document.documentElement.dataset.session === 'none' ? null : undefined,
  );
  const [reason, setReason] = useState<string>();

  const take = useCallback(
    (next: SessionRecord | null, why?: string) => {
      setCsrfToken(next?.csrf_token);
      if (next === null) queries.clear(); // the next one to sign in may be somebody else
      setReason(why);
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
      await http.DELETE('/v1/session').catch(() => undefined); // an ended one is as good
      take(null, why);
    },
    [take],
  );

  useEffect(() => {
    whenSessionEnds(() => setSession((was) => (was ? (take(null, ENDED), null) : null)));
    if (document.documentElement.dataset.session === 'none') return;
    http.GET('/v1/session').then(
      ({ data }) => take(data ?? null),
      () => take(null),
    );
  }, [take]);

  if (session === undefined) return loading;
  if (session === null) return <SignIn reason={reason} signIn={signIn} />;
  return (
    <SignedIn session={session} signOut={signOut}>
      {children}
    </SignedIn>
  );
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
      signOut: () => signOut(),
    }),
    [session, signOut],
  );
  return <Context.Provider value={context}>{children}</Context.Provider>;
}
