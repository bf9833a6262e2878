import { Group, Paper, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';

interface Props {
  title: string;
  lead?: string;
  actions?: ReactNode;
  children: ReactNode;
}

/** A part of the page with a title of its own. */
export function Section({ title, lead, actions, children }: Props) {
  return (
    <Paper component="section" aria-label={title} withBorder p={{ base: 'sm', sm: 'md' }}>
      <Stack gap="sm">
        <Group justify="space-between" gap="xs">
          <Title order={2} size="h4">
            {title}
          </Title>
          {actions}
        </Group>
        {lead !== undefined && (
          <Text size="sm" c="dimmed">
            {lead}
          </Text>
        )}
        {children}
      </Stack>
    </Paper>
  );
}
