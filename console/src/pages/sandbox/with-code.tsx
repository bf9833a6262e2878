import { Code } from '@mantine/core';

/** A sentence in which what stands between backticks is code. */
export function WithCode({ text }: { text: string }) {
  return text.split('`').map((part, index) => (index % 2 === 1 ? <Code key={index}>{part}</Code> : part));
}
