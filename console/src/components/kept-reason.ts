import { useEffect, useState } from 'react';
import { ApiProblem } from '../api/problem';
import { useSession } from '../api/session';

const NAME = 'payout-proxy.reason';

/** The reason of a decision that its author could not make yet. */
interface Kept {
  /** The key of its author. Somebody else may come back from the provider. */
  author: string;
  decision: string;
  reason: string;
}

interface KeptReason {
  /** The reason that was kept. Empty if there is none. */
  kept: string;
  /** Keeps the reason in this tab if its author has to sign in again. */
  keepIfNeeded: (reason: string, failure: unknown) => void;
}

/**
 * Keeps the reason of a decision while its author signs in again, because the provider is another site and the page is lost.
 * @param decision names what is decided. Undefined if its reason is not kept.
 */
export function useKeptReason(decision: string | undefined): KeptReason {
  const { key_id: author } = useSession().session;
  const [kept] = useState(() => {
    const last = read();
    return last !== undefined && last.author === author && last.decision === decision ? last.reason : '';
  });
  useEffect(() => {
    forget(); // The dialog shows it now.
    return forget; // The dialog was closed. Going to the provider does not close it.
  }, []);
  return {
    kept,
    keepIfNeeded: (reason, failure) => {
      if (decision === undefined || !(failure instanceof ApiProblem) || failure.code !== 'step_up_required') return;
      sessionStorage.setItem(NAME, JSON.stringify({ author, decision, reason } satisfies Kept));
    },
  };
}

function read(): Kept | undefined {
  const text = sessionStorage.getItem(NAME);
  return text === null ? undefined : (JSON.parse(text) as Kept);
}

function forget(): void {
  sessionStorage.removeItem(NAME);
}
