import { Alert, Button, Group } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { messageOf } from '../api/problem';
import { useGate } from './gate';

/** Of a form: does what it is for, and keeps its failure for the form to show. */
export function useSubmit(run: () => Promise<unknown>) {
  const [failure, setFailure] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setFailure(undefined);
    run()
      .catch(setFailure)
      .finally(() => setBusy(false));
  };
  return { failure, busy, onSubmit };
}

interface EndProps {
  /** What the last try failed with; undefined: nothing. */
  failure: unknown;
  busy: boolean;
  /** On the button: what it does. */
  action: string;
  /** What to do first, as a sentence; undefined: nothing is missing. */
  missing?: string | undefined;
  danger?: boolean;
  cancel: () => void;
}

/** The end of a dialog's form: what went wrong, the way back and the way on. */
export function FormEnd({ failure, busy, action, missing, danger = false, cancel }: EndProps) {
  const gate = useGate(missing);
  return (
    <>
      {failure !== undefined && (
        <Alert color="red" role="alert">
          {messageOf(failure)}
        </Alert>
      )}
      <Group justify="flex-end">
        {gate.hint}
        <Button variant="default" onClick={cancel}>
          Cancel
        </Button>
        <Button type="submit" loading={busy} {...(danger && { color: 'red.9' })} {...gate.button}>
          {action}
        </Button>
      </Group>
    </>
  );
}
