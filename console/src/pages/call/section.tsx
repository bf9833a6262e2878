import { Group, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';

interface Props {
  title: string;
  /** What one should know about it. */
  lead?: ReactNode;
  actions?: ReactNode;
  children?: ReactNode;
}

/** One part of the page. */
export function Section({ title, lead, actions, children }: Props) {
  return (
    <Stack component="section" gap="xs" aria-label={title} miw={0}>
      <Group justify="space-between" gap="xs">
        <Title order={2} size="h4">
          {title}
        </Title>
        {actions !== undefined && <Group gap="xs">{actions}</Group>}
      </Group>
      {lead !== undefined && (
        <Text size="sm" c="dimmed" maw="80ch">
          {lead}
        </Text>
      )}
      {children}
    </Stack>
  );
}
