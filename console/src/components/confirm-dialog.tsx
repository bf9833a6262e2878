import { Alert, Button, Group, Modal, Stack, TextInput } from '@mantine/core';
import { type FormEvent, type ReactNode, useState } from 'react';
import { messageOf } from '../api/problem';

export interface ConfirmProps {
  title: string;
  /** What will be done, and to what. */
  children: ReactNode;
  /** On the button: what it does. */
  action: string;
  danger?: boolean;
  /** Whether all is said that is needed. */
  ready?: boolean;
  /** Words to be typed first, before something that hurts. */
  typed?: string;
  /** Does it; its failure is shown here, and the dialog stays. */
  run: () => Promise<unknown>;
  close: () => void;
}

/** Asks before something is done that is not undone by a click. */
export function ConfirmDialog({
  title,
  children,
  action,
  danger = false,
  ready = true,
  typed,
  run,
  close,
}: ConfirmProps) {
  const [words, setWords] = useState('');
  const [failure, setFailure] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setFailure(undefined);
    try {
      await run();
      close();
    } catch (error) {
      setFailure(error);
    } finally {
      setBusy(false);
    }
  };
  const isReady = ready && (typed === undefined || words.trim().toLowerCase() === typed);
  return (
    <Modal opened onClose={close} title={title} closeButtonProps={{ 'aria-label': 'Close' }}>
      <form onSubmit={(event) => void submit(event)}>
        <Stack>
          {children}
          {typed !== undefined && (
            <TextInput
              label={`Type “${typed}” to confirm`}
              autoComplete="off"
              value={words}
              onChange={({ currentTarget: { value } }) => setWords(value)}
            />
          )}
          {failure !== undefined && (
            <Alert color="red" role="alert">
              {messageOf(failure)}
            </Alert>
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
            <Button type="submit" loading={busy} disabled={!isReady} {...(danger && { color: 'red.9' })}>
              {action}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
