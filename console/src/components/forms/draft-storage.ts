import { useEffect, useState } from 'react';
import { ApiProblem } from '../../api/problem';
import { useSession } from '../../api/session';
import { failuresWithDraft } from './failure';

/** What the author of a form entered and could not submit yet. */
interface StoredDraft<Values> {
  /** The key of the author. Somebody else may come back from the provider. */
  author: string;
  values: Values;
}

interface DraftStorage<Values> {
  /** What was kept. Undefined if nothing was. */
  kept: Values | undefined;
  /** Submits the form. If the author has to sign in again, it keeps the values in this tab. */
  submitDraft: <Result>(values: Values, submit: () => Promise<Result>) => Promise<Result>;
}

/**
 * Keeps the values of a form while its author signs in again, because the provider is another site and the page is lost.
 * Secrets and recipients must not be among the values.
 * @param form names the form and what it is about. Undefined if its values are not kept.
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
    forget(); // The form shows them now.
    return forget; // The form was closed. Going to the provider does not close it.
  }, [item]);
  return {
    kept,
    submitDraft: (values, submit) => {
      sessionStorage.removeItem(item); // An earlier attempt may have kept it.
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
