import { Code } from '@mantine/core';

/** Shows a sentence, with text between backticks as code. */
export function InlineCode({ text }: { text: string }) {
  return text.split('`').map((part, index) => (index % 2 === 1 ? <Code key={index}>{part}</Code> : part));
}
