import { Text } from '@mantine/core';
import { type MouseEvent, useId } from 'react';

const stop = (event: MouseEvent) => event.preventDefault();

/**
 * Disables a button while something is missing, and says what. The button can still be reached by keyboard, so that a
 * screen reader reads the reason. A disabled button could not.
 * @param missing a sentence that says what to do first. Undefined enables the button.
 * @returns the properties of the button, to be set after its own `onClick`, and the sentence to show beside it.
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
