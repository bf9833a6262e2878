import { Alert, Button, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import type { FormEvent, ReactNode } from 'react';
import { messageOf } from '../../../api/problem';

interface Props {
  label: string;
  /** Text of the button. */
  action: string;
  isBusy: boolean;
  error: unknown;
  /** Confirmation text. */
  done?: string | undefined;
  submit: () => void;
  children: ReactNode;
}

/** Shows a small form with one button. */
export function ControlForm({ label, action, isBusy, error, done, submit, children }: Props) {
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    submit();
  };
  return (
    <form onSubmit={onSubmit} noValidate aria-label={label}>
      <Stack gap="sm">
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm" verticalSpacing="xs">
          {children}
        </SimpleGrid>
        {Boolean(error) && (
          <Alert color="red" role="alert">
            {messageOf(error)}
          </Alert>
        )}
        <Group gap="sm">
          <Button type="submit" size="xs" variant="default" disabled={isBusy}>
            {action}
          </Button>
          {done !== undefined && (
            <Text size="xs" c="dimmed" role="status">
              {done}
            </Text>
          )}
        </Group>
      </Stack>
    </form>
  );
}
