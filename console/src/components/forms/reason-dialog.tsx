import { Textarea } from '@mantine/core';
import { type KeyboardEvent, useState } from 'react';
import { ConfirmDialog, type ConfirmProps } from './confirm-dialog';
import { useStoredDraft } from './draft-storage';

interface Props extends Omit<ConfirmProps, 'run'> {
  /** The longest reason that the API accepts. */
  maxLength?: number;
  /** Names what is decided, so that the reason is kept while its author signs in again. */
  decision?: string;
  /** Carries out the action. The dialog stays open and shows its failure. */
  run: (reason: string) => Promise<unknown>;
}

/** Asks for a reason, because every decision about money is recorded with one. Ctrl+Enter presses its button. */
export function ReasonDialog({ children, maxLength = 500, decision, missing, run, ...props }: Props) {
  const { kept = '', submitDraft } = useStoredDraft<string>(decision);
  const [reason, setReason] = useState(kept);
  const submitByKey = ({
    key,
    ctrlKey,
    metaKey,
    currentTarget: { form },
  }: KeyboardEvent<HTMLTextAreaElement>) => {
    const button = form?.querySelector<HTMLButtonElement>('[type=submit]');
    if (key === 'Enter' && (ctrlKey || metaKey)) button?.click(); // It does nothing while something is missing.
  };
  return (
    <ConfirmDialog
      {...props}
      missing={missing ?? (reason.trim() === '' ? 'Write a reason first.' : undefined)}
      run={() => submitDraft(reason, () => run(reason.trim()))}
    >
      {children}
      <Textarea
        label="Reason"
        required
        autosize
        minRows={2}
        maxLength={maxLength}
        value={reason}
        data-autofocus
        onKeyDown={submitByKey}
        onChange={({ currentTarget: { value } }) => setReason(value)}
      />
    </ConfirmDialog>
  );
}
