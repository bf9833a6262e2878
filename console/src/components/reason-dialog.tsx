import { Alert, Button, Group, Modal, Stack, Textarea } from '@mantine/core';
import { type FormEvent, type ReactNode, useState } from 'react';
import { messageOf } from '../api/problem';

interface Props {
  title: string;
  /** What will be done, and to what. */
  children: ReactNode;
  /** On the button: what it does. */
  action: string;
  danger?: boolean;
  /** The most that the API takes. */
  maxLength?: number;
  /** Does it; its failure is shown here, and the dialog stays. */
  run: (reason: string) => Promise<unknown>;
  close: () => void;
}

/** Asks why, as every decision about money is on record with its reason. */
export function ReasonDialog({ title, children, action, danger = false, maxLength = 500, run, close }: Props) {
  const [reason, setReason] = useState('');
  const [failure, setFailure] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setFailure(undefined);
    try {
      await run(reason.trim());
      close();
    } catch (error) {
      setFailure(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Modal opened onClose={close} title={title} closeButtonProps={{ 'aria-label': 'Close' }}>
      <form onSubmit={(event) => void submit(event)}>
        <Stack>
          {children}
          <Textarea
            {...{ label: 'Reason', required: true, autosize: true, minRows: 2, maxLength, value: reason }}
            data-autofocus
            onChange={({ currentTarget: { value } }) => setReason(value)}
          />
          {failure !== undefined && (
            <Alert color="red" role="alert">
              {messageOf(failure)}
            </Alert>
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
            <Button type="submit" loading={busy} disabled={reason.trim() === ''} {...(danger && { color: 'red' })}>
              {action}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
