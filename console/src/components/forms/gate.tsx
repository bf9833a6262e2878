import { Text } from '@mantine/core';
import { type MouseEvent, useId } from 'react';

const stop = (event: MouseEvent) => event.preventDefault();

/**
 * Disables a button while a step is missing, and explains which. The button keeps keyboard focus, so that
 * screen readers announce the reason.
 * @param missing instruction for the missing step. Undefined enables the button.
 * @returns the properties of the button, to be set after its own `onClick`, and the instruction to show.
 */
export function useGate(missing: string | undefined) {
  const id = useId();
  if (missing === undefined) return { button: {}, hint: null };
  return {
    button: { 'aria-disabled': true, 'data-disabled': true, 'aria-describedby': id, onClick: stop },
    hint: (
      <Text id={id} size="xs" c="dimmed">
        {missing}
      </Text>
    ),
  };
}
