import { Textarea } from '@mantine/core';
import { type KeyboardEvent, useState } from 'react';
import { ConfirmDialog, type ConfirmProps } from './confirm-dialog';

interface Props extends Omit<ConfirmProps, 'run'> {
  /** The most that the API takes. */
  maxLength?: number;
  /** Does it; its failure is shown here, and the dialog stays. */
  run: (reason: string) => Promise<unknown>;
}

/** Asks why, as every decision about money is on record with its reason. Ctrl+Enter is as good as its button. */
export function ReasonDialog({ children, maxLength = 500, missing, run, ...props }: Props) {
  const [reason, setReason] = useState('');
  const submitByKey = ({ key, ctrlKey, metaKey, currentTarget: { form } }: KeyboardEvent<HTMLTextAreaElement>) => {
    const button = form?.querySelector<HTMLButtonElement>('[type=submit]');
    if (key === 'Enter' && (ctrlKey || metaKey)) button?.click(); // which does nothing while something is missing
  };
  return (
    <ConfirmDialog
      {...props}
      missing={missing ?? (reason.trim() === '' ? 'Write a reason first.' : undefined)}
      run={() => run(reason.trim())}
    >
      {children}
      <Textarea
        {...{ label: 'Reason', required: true, autosize: true, minRows: 2, maxLength, value: reason }}
        data-autofocus
        onKeyDown={submitByKey}
        onChange={({ currentTarget: { value } }) => setReason(value)}
      />
    </ConfirmDialog>
  );
}
