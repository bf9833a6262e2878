import { Textarea } from '@mantine/core';
import { type KeyboardEvent, useState } from 'react';
import { ConfirmDialog, type ConfirmProps } from './confirm-dialog';
import { useStoredDraft } from './draft-storage';

interface Props extends Omit<ConfirmProps, 'run'> {
  /** Longest reason that the API accepts. */
  maxLength?: number;
  /** Name of the decision. If set, the reason is stored while its author signs in again. */
  decision?: string;
  /** Carries out the action. If it fails, the dialog stays open and shows the failure. */
  run: (reason: string) => Promise<unknown>;
}

/** Asks for a reason, which is recorded with the decision. Ctrl+Enter submits it. */
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
    // The button ignores clicks while a step is missing.
    if (key === 'Enter' && (ctrlKey || metaKey)) button?.click();
  };
  return (
    <ConfirmDialog
      {...props}
      missing={missing ?? (reason.trim() === '' ? 'Enter a reason first.' : undefined)}
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
