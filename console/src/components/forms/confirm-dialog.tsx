import { Modal, Stack, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { FormEnd, useSubmit } from './form';

export interface ConfirmProps {
  title: string;
  /** Description of the action and its target. */
  children: ReactNode;
  /** Text of the button. */
  action: string;
  danger?: boolean;
  /** Instruction for a missing step. Undefined if nothing is missing. */
  missing?: string | undefined;
  /** Text that the user must type before a dangerous action. */
  typed?: string | undefined;
  /** Carries out the action. If it fails, the dialog stays open and shows the failure. */
  run: () => Promise<unknown>;
  close: () => void;
}

/** Asks for confirmation before an action that cannot be undone easily. */
export function ConfirmDialog({
  title,
  children,
  action,
  danger = false,
  missing,
  typed,
  run,
  close,
}: ConfirmProps) {
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
          <FormEnd
            failure={failure}
            busy={busy}
            action={action}
            danger={danger}
            missing={first}
            cancel={close}
          />
        </Stack>
      </form>
    </Modal>
  );
}
