import { Modal, Stack, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { FormEnd, useSubmit } from './form';

export interface ConfirmProps {
  title: string;
  /** What will be done, and to what. */
  children: ReactNode;
  /** On the button: what it does. */
  action: string;
  danger?: boolean;
  /** What to do first, as a sentence; undefined: all is said that is needed. */
  missing?: string | undefined;
  /** Words to be typed first, before something that hurts. */
  typed?: string;
  /** Does it; its failure is shown here, and the dialog stays. */
  run: () => Promise<unknown>;
  close: () => void;
}

/** Asks before something is done that is not undone by a click. */
export function ConfirmDialog({ title, children, action, danger = false, missing, typed, run, close }: ConfirmProps) {
  const [words, setWords] = useState('');
  const { failure, busy, onSubmit } = useSubmit(async () => {
    await run();
    close();
  });
  const isTyped = typed === undefined || words.trim().toLowerCase() === typed;
  const first = missing ?? (isTyped ? undefined : `Type “${typed}” first.`);
  return (
    <Modal opened onClose={close} title={title} closeButtonProps={{ 'aria-label': 'Close' }}>
      <form onSubmit={onSubmit}>
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
          <FormEnd {...{ failure, busy, action, danger, missing: first, cancel: close }} />
        </Stack>
      </form>
    </Modal>
  );
}
