import { TextInput, type TextInputProps } from '@mantine/core';
import { useState } from 'react';

/** Holds typed text until it is committed. A new value from outside replaces it. */
export function useDraft<Value>(value: Value) {
  const [draft, setDraft] = useState(value);
  const [known, setKnown] = useState(value);
  if (known !== value) {
    setKnown(value);
    setDraft(value);
  }
  return [draft, setDraft] as const;
}

interface Props extends Omit<TextInputProps, 'value' | 'onChange'> {
  value: string;
  onCommit: (value: string) => void;
}

/** Text field that commits on Enter or on blur. A search for each letter would be too expensive. */
export function TextField({ value, onCommit, ...props }: Props) {
  const [draft, setDraft] = useDraft(value);
  const commit = () => {
    if (draft.trim() !== value) onCommit(draft.trim());
  };
  return (
    <TextInput
      size="sm"
      autoComplete="off"
      spellCheck={false}
      {...props}
      value={draft}
      onChange={({ currentTarget }) => setDraft(currentTarget.value)}
      onBlur={commit}
      onKeyDown={({ key }) => {
        if (key === 'Enter') commit();
      }}
    />
  );
}
