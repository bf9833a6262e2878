import { NativeSelect, TextInput } from '@mantine/core';
import { useState } from 'react';

interface ChoiceProps {
  label: string;
  value: string | undefined;
  choose: (value: string) => void;
  /** Label of the empty choice. */
  all: string;
  others: { value: string; label: string }[];
}

/** Selects one of a fixed list of values. */
export function Choice({ label, value = '', choose, all, others }: ChoiceProps) {
  return (
    <NativeSelect
      label={label}
      value={value}
      onChange={(event) => choose(event.currentTarget.value)}
      data={[{ value: '', label: all }, ...others]}
    />
  );
}

interface EntryProps {
  label: string;
  placeholder: string;
  value: string | undefined;
  enter: (text: string) => void;
}

/** Text field that applies its value on Enter or on blur. */
export function Entry({ label, placeholder, value = '', enter }: EntryProps) {
  const [text, setText] = useState(value);
  const take = () => {
    if (text.trim() !== value) enter(text.trim());
  };
  return (
    <TextInput
      label={label}
      placeholder={placeholder}
      w={150}
      value={text}
      onChange={(event) => setText(event.currentTarget.value)}
      onBlur={take}
      onKeyDown={({ key }) => key === 'Enter' && take()}
    />
  );
}
