import { Button, Group, Stack } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { Failure } from './failure';
import { useGate } from './gate';

/** Submits a form and keeps its failure for display. */
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
  /** Last failure. Undefined if there is none. */
  failure: unknown;
  busy: boolean;
  /** Text of the button. */
  action: string;
  /** Instruction for a missing step. Undefined if nothing is missing. */
  missing?: string | undefined;
  danger?: boolean;
  cancel: () => void;
}

/** Shows the end of a dialog's form: the error, and the buttons to cancel and to submit. */
export function FormEnd({ failure, busy, action, missing, danger = false, cancel }: EndProps) {
  const gate = useGate(missing);
  return (
    <>
      {failure !== undefined && <Failure failure={failure} />}
      <Stack gap="xs" align="flex-end">
        {gate.hint}
        <Group justify="flex-end">
          <Button variant="default" onClick={cancel}>
            Cancel
          </Button>
          <Button type="submit" loading={busy} {...(danger && { color: 'red.9' })} {...gate.button}>
            {action}
          </Button>
        </Group>
      </Stack>
    </>
  );
}
