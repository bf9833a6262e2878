import { useEffect, useState } from 'react';
import { ApiProblem } from '../../api/problem';
import { useSession } from '../../api/session';
import { failuresWithDraft } from './failure';

/** Form values that were not submitted yet. */
interface StoredDraft<Values> {
  /** Key ID of the author. Another person may return from the provider. */
  author: string;
  values: Values;
}

interface DraftStorage<Values> {
  /** Stored values. Undefined if there are none. */
  kept: Values | undefined;
  /** Submits the form. If the author must sign in again, it stores the values in this tab. */
  submitDraft: <Result>(values: Values, submit: () => Promise<Result>) => Promise<Result>;
}

/**
 * Stores the values of a form while its author signs in again at the provider, which unloads the page. The
 * values must not contain secrets or recipients.
 * @param form name of the form and its subject. Undefined disables the storage.
 */
export function useStoredDraft<Values>(form: string | undefined): DraftStorage<Values> {
  const { key_id: author } = useSession().session;
  const item = `payout-proxy.form.${form}`;
  const [kept] = useState(() => {
    const last = read<Values>(item);
    return last?.author === author ? last.values : undefined;
  });
  useEffect(() => {
    const forget = () => sessionStorage.removeItem(item);
    forget(); // The form shows the values now.
    return forget; // Closing the form discards the values. Going to the provider does not close it.
  }, [item]);
  return {
    kept,
    submitDraft: (values, submit) => {
      sessionStorage.removeItem(item); // An earlier attempt may have stored values.
      return submit().catch((failure: unknown) => {
        if (form !== undefined && failure instanceof ApiProblem && failure.code === 'step_up_required') {
          sessionStorage.setItem(item, JSON.stringify({ author, values } satisfies StoredDraft<Values>));
          failuresWithDraft.add(failure);
        }
        throw failure;
      });
    },
  };
}

function read<Values>(item: string): StoredDraft<Values> | undefined {
  const text = sessionStorage.getItem(item);
  return text === null ? undefined : (JSON.parse(text) as StoredDraft<Values>);
}
