import { Code } from '@mantine/core';

/** Shows a sentence in which text between backticks is code. */
export function InlineCode({ text }: { text: string }) {
  return text.split('`').map((part, index) => (index % 2 === 1 ? <Code key={index}>{part}</Code> : part));
}
